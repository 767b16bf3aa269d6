import FoundationEssentials
import LarderModel
import NIOCore
import NIOPosix
import Synchronization

/// Collects the statistics of queries, which belong to the event loops, and resets them.
///
/// It visits one event loop after the other, as ``MetricsCollector`` does.
final class QueryStatisticsCollector: Sendable {
    private typealias Counts = [QueryCounters.Shape: QueryCounters.Counts]

    private let loopReaders: [LoopReader]
    /// When counting began.
    private let since = Mutex(Date())

    init(_ loopReaders: [LoopReader]) { self.loopReaders = loopReaders }

    /// - Parameter done: Called on a thread that may block.
    func collect(
        resetting: Bool, _ done: @escaping @Sendable (QueryStatistics) -> Void
    ) {
        let start = since.withLock { since in
            defer { if resetting { since = Date() } }
            return since
        }
        collect(loopReaders[...], [:], evicted: 0, resetting: resetting) { counts, evicted in
            done(
                QueryStatistics(
                    statistics: Self.statistics(of: counts), since: start, evictedCount: evicted))
        }
    }

    private func collect(
        _ left: ArraySlice<LoopReader>, _ counts: Counts, evicted: Int64, resetting: Bool,
        _ done: @escaping @Sendable (Counts, Int64) -> Void
    ) {
        guard let next = left.first else {
            // Shapes are decoded and printed, which is not for an event loop.
            NIOSingletons.posixBlockingThreadPool.submit { _ in done(counts, evicted) }
            return
        }
        next.eventLoop.execute { [self] in
            var counts = counts
            for (shape, others) in next.queries.counts {
                counts[shape, default: QueryCounters.Counts()].add(others)
            }
            let evicted = evicted.addingClamped(next.queries.evictedCount)
            if resetting { next.queries.reset() }
            collect(left.dropFirst(), counts, evicted: evicted, resetting: resetting, done)
        }
    }

    /// Queries that differ in literals of their format strings have the same text.
    private static func statistics(of counts: Counts) -> [QueryStatistic] {
        struct Key: Hashable {
            let entityName: String
            let query: String
        }
        var sums: [Key: QueryCounters.Counts] = [:]
        for (shape, counts) in counts {
            guard let (entityName, query) = shape.texts else { continue }
            let key = Key(entityName: entityName, query: query)
            sums[key, default: QueryCounters.Counts()].add(counts)
        }
        let statistics = sums.map { key, counts in
            QueryStatistic(
                entityName: key.entityName, query: key.query, callCount: counts.calls,
                errorCount: counts.errors, seconds: Double(counts.nanoseconds) / 1e9,
                medianSeconds: Double(counts.times.percentile(0.5)) / 1e9,
                percentile99Seconds: Double(counts.times.percentile(0.99)) / 1e9,
                rowCount: counts.rows, scannedRowCount: counts.scannedRows,
                stepCount: counts.steps, cachedReplyCount: counts.cachedReplies)
        }
        return statistics.sorted {
            ($1.seconds, $0.entityName, $0.query) < ($0.seconds, $1.entityName, $1.query)
        }
    }
}

extension QueryCounters.Shape {
    /// The entity, and the query without values; nil for a shape that is not a query, which the
    /// server has refused.
    fileprivate var texts: (entityName: String, query: String)? {
        switch self {
        case .query(let shape):
            guard let query = try? shape.decoded() else { return nil }
            return (query.entityName, query.shape)
        case .get(let entityName, let properties):
            let names = properties.map { " \($0.joined(separator: ", "))" } ?? ""
            return (entityName, Query.cut("get\(names)"))
        }
    }
}
