/// Prometheus' text format, version 0.0.4
/// (https://prometheus.io/docs/instrumenting/exposition_formats).
enum PrometheusText {
    static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    static func text(of families: [MetricFamily]) -> String {
        var text = ""
        for family in families where !family.samples.isEmpty {
            text += "# HELP \(family.name) \(escaped(family.help))\n"
            text += "# TYPE \(family.name) \(family.kind.rawValue)\n"
            for sample in family.samples {
                text += family.name + sample.suffix
                if !sample.labels.isEmpty {
                    let labels = sample.labels.map { label in
                        let value = escaped(label.value).replacing("\"", with: "\\\"")
                        return "\(label.name)=\"\(value)\""
                    }
                    text += "{\(labels.joined(separator: ","))}"
                }
                text += " \(number(sample.value))\n"
            }
        }
        return text
    }

    /// A number as Go reads and writes it. An integer has no fraction.
    static func number(_ value: Double) -> String {
        switch value {
        case .infinity: return "+Inf"
        case -.infinity: return "-Inf"
        case let value where value.isNaN: return "NaN"
        default: return Int64(exactly: value).map { "\($0)" } ?? "\(value)"
        }
    }

    private static func escaped(_ text: String) -> String {
        text.replacing("\\", with: "\\\\").replacing("\n", with: "\\n")
    }
}
