import LarderModel
import NIOCore
import NIOPosix

/// Collects the metrics of a server: for the request `metrics`, for the socket of the metrics, and
/// for a backend of swift-metrics.
///
/// The counts of requests belong to the event loops, so the collector visits one event loop after
/// the other, as ``ActivityCollector`` does. It needs no reader of the pool and not the writer, so
/// that it works on a busy server.
final class MetricsCollector: Sendable {
    /// The statistics of queries, which are no metrics.
    let queries: QueryStatisticsCollector
    private let loopReaders: [LoopReader]
    private let server: String
    private let statistics: @Sendable () -> [Statistic]
    /// The metrics of the writer.
    private let writes: @Sendable () -> [MetricFamily]

    /// - Parameters:
    ///   - loopReaders: The readers of all event loops. The first one reads the store's metrics.
    ///   - statistics: The metrics of the server that `stats` has.
    init(
        _ loopReaders: [LoopReader], server: String,
        statistics: @escaping @Sendable () -> [Statistic],
        writes: @escaping @Sendable () -> [MetricFamily]
    ) {
        queries = QueryStatisticsCollector(loopReaders)
        self.loopReaders = loopReaders
        self.server = server
        self.statistics = statistics
        self.writes = writes
    }

    /// - Parameter done: Called on a thread that may block.
    func collect(_ done: @escaping @Sendable ([MetricFamily]) -> Void) {
        collect(loopReaders[...], RequestMetrics.Counts(), done)
    }

    private func collect(
        _ left: ArraySlice<LoopReader>, _ counts: RequestMetrics.Counts,
        _ done: @escaping @Sendable ([MetricFamily]) -> Void
    ) {
        if let next = left.first {
            return next.eventLoop.execute { [self] in
                var counts = counts
                counts.add(next.requests.counts)
                collect(left.dropFirst(), counts, done)
            }
        }
        let first = loopReaders[0]
        first.eventLoop.execute { [self] in
            let store = first.statistics()
            // Texts of this length are not for an event loop.
            NIOSingletons.posixBlockingThreadPool.submit { [self] _ in
                done(
                    StatisticMetrics.families(of: store + statistics(), server: server)
                        + Self.families(of: counts) + writes())
            }
        }
    }

    private static func families(of counts: RequestMetrics.Counts) -> [MetricFamily] {
        var times: [MetricFamily.Sample] = []
        for kind in RequestKind.allCases {
            for failed in [false, true] {
                let histogram = counts.times(of: kind, failed: failed)
                guard histogram.count > 0 else { continue }
                times += MetricFamily.Sample.samples(
                    of: histogram, unit: 1e9,
                    labels: [.init("kind", kind.name), .init("result", failed ? "error" : "ok")])
            }
        }
        let errors = counts.errors.map { failure, count in
            MetricFamily.Sample(
                labels: [.init("kind", failure.kind.name), .init("code", failure.code.name)],
                value: Double(count))
        }.sorted {
            ($0.labels[0].value, $0.labels[1].value) < ($1.labels[0].value, $1.labels[1].value)
        }
        return [
            MetricFamily(
                "larder_request_duration_seconds", .histogram,
                help: "Time from the receipt of a request to its last reply.", times),
            MetricFamily(
                "larder_request_errors_total", .counter,
                help: "Requests that failed, by the code of their error.", errors),
        ]
    }
}
