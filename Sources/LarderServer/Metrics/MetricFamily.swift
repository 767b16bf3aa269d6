/// A metric with its samples, as monitoring systems have it. A family is a value; where its numbers
/// come from, and in which format they are sent, is for others.
struct MetricFamily: Hashable, Sendable {
    enum Kind: String, Sendable {
        case counter, gauge, histogram
    }

    struct Label: Hashable, Sendable {
        let name: String
        let value: String

        init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// One number of the family.
    struct Sample: Hashable, Sendable {
        /// Appended to the name of the family; empty except in a histogram.
        var suffix = ""
        var labels: [Label] = []
        let value: Double
    }

    /// Lower-case words with underscores: first `larder`, last the unit, and `total` for a counter.
    let name: String
    let help: String
    let kind: Kind
    var samples: [Sample]

    init(_ name: String, _ kind: Kind, help: String, _ samples: [Sample]) {
        self.name = name
        self.help = help
        self.kind = kind
        self.samples = samples
    }
}

extension MetricFamily.Sample {
    /// The samples of a histogram: the number of values up to each bound, their sum, and their
    /// count.
    ///
    /// - Parameter unit: The number of the histogram that is 1 of the metric.
    static func samples(
        of histogram: Histogram, unit: Double, labels: [MetricFamily.Label] = []
    ) -> [Self] {
        var count: Int64 = 0
        let buckets = histogram.counts.indices.map { bucket in
            count += histogram.counts[bucket]
            let bound =
                bucket < histogram.bounds.count
                ? PrometheusText.number(Double(histogram.bounds[bucket]) / unit) : "+Inf"
            return Self(
                suffix: "_bucket", labels: labels + [MetricFamily.Label("le", bound)],
                value: Double(count))
        }
        return buckets + [
            Self(suffix: "_sum", labels: labels, value: Double(histogram.sum) / unit),
            Self(suffix: "_count", labels: labels, value: Double(count)),
        ]
    }
}
