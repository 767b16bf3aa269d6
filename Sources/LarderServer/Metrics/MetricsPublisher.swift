internal import CoreMetrics
import LarderModel
import NIOCore
import Synchronization

/// Passes the metrics to a backend of swift-metrics, at intervals. Each sample is one instrument
/// with the name and the labels that it has for Prometheus.
///
/// The server counts by itself, and not with swift-metrics: its numbers are those of `stats`, and a
/// backend does not tell what it has counted (docs/decisions/0062-metrics.md).
final class MetricsPublisher: Sendable {
    private struct Series: Hashable {
        let name: String
        let labels: [MetricFamily.Label]
    }

    fileprivate enum Instrument {
        case counter(Counter)
        case floatingPointCounter(FloatingPointCounter)
        case meter(Meter)
    }

    private struct Published {
        let instrument: Instrument
        var value = 0.0
    }

    private let factory: any MetricsFactory
    private let published = Mutex<[Series: Published]>([:])

    init(factory: any MetricsFactory) { self.factory = factory }

    func publish(_ families: [MetricFamily]) {
        published.withLock { published in
            var left = Set(published.keys)
            for family in families {
                for sample in family.samples {
                    let series = Series(name: family.name + sample.suffix, labels: sample.labels)
                    left.remove(series)
                    var entry =
                        published[series]
                        ?? Published(instrument: instrument(series, sample, of: family))
                    Self.publish(sample.value, &entry)
                    published[series] = entry
                }
            }
            for series in left { published.removeValue(forKey: series)?.instrument.destroy() }
        }
    }

    private func instrument(
        _ series: Series, _ sample: MetricFamily.Sample, of family: MetricFamily
    ) -> Instrument {
        let labels = series.labels.map { ($0.name, $0.value) }
        return switch family.kind {
        case .gauge: .meter(Meter(label: series.name, dimensions: labels, factory: factory))
        case .histogram where sample.suffix == "_sum":
            .floatingPointCounter(
                FloatingPointCounter(label: series.name, dimensions: labels, factory: factory))
        case .counter, .histogram:
            .counter(Counter(label: series.name, dimensions: labels, factory: factory))
        }
    }

    private static func publish(_ value: Double, _ entry: inout Published) {
        // Totals begin again after a migration.
        let added = value >= entry.value ? value - entry.value : value
        entry.value = value
        switch entry.instrument {
        case .counter(let counter): counter.increment(by: Int64(clamped: added))
        case .floatingPointCounter(let counter): counter.increment(by: added)
        case .meter(let meter): meter.set(value)
        }
    }
}

extension MetricsPublisher.Instrument {
    fileprivate func destroy() {
        switch self {
        case .counter(let counter): counter.destroy()
        case .floatingPointCounter(let counter): counter.destroy()
        case .meter(let meter): meter.destroy()
        }
    }
}
