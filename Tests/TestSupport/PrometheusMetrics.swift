/// Metrics in Prometheus' text format, parsed by stricter rules than Prometheus has: what its
/// conventions recommend is required.
public struct PrometheusMetrics {
    public struct Sample: Hashable {
        public let name: String
        public let labels: [String: String]
        public let value: Double
    }

    public struct Family {
        public let name: String
        public let help: String
        public let kind: String
        public var samples: [Sample] = []
    }

    public struct Problem: Error, CustomStringConvertible {
        public let description: String
    }

    public private(set) var families: [String: Family] = [:]

    /// - Throws: ``Problem`` for the first line that breaks a rule.
    public init(parsing text: String) throws {
        guard text.hasSuffix("\n") else { throw Problem(description: "no line end at the end") }
        var current: Family?
        var pendingHelp: (name: String, help: String)?
        for line in text.dropLast().split(separator: "\n", omittingEmptySubsequences: false) {
            func fail(_ reason: String) -> Problem { Problem(description: "\(reason): \(line)") }
            let words = line.split(separator: " ", maxSplits: 3, omittingEmptySubsequences: false)
            if line.hasPrefix("# HELP ") {
                try finish(current)
                current = nil
                guard words.count == 4, pendingHelp == nil, !words[3].isEmpty else {
                    throw fail("no help")
                }
                pendingHelp = (String(words[2]), try Self.unescaped(words[3]))
            } else if line.hasPrefix("# TYPE ") {
                guard words.count == 4, let help = pendingHelp, help.name == words[2] else {
                    throw fail("TYPE without HELP")
                }
                pendingHelp = nil
                guard families[help.name] == nil else { throw fail("a family occurs twice") }
                current = Family(name: help.name, help: help.help, kind: String(words[3]))
                guard Self.isValid(help.name, kind: String(words[3])) else { throw fail("name") }
            } else {
                let sample = try Self.sample(line)
                guard current != nil, pendingHelp == nil else { throw fail("no TYPE before") }
                current?.samples.append(sample)
            }
        }
        guard pendingHelp == nil else { throw Problem(description: "HELP without TYPE") }
        try finish(current)
    }

    public subscript(_ name: String) -> Double? { families[name]?.samples.first?.value }

    /// The value of the sample with these labels, besides others.
    public func value(_ name: String, _ labels: [String: String]) -> Double? {
        families.values.lazy.flatMap(\.samples).first { sample in
            sample.name == name && labels.allSatisfy { sample.labels[$0.key] == $0.value }
        }?.value
    }

    private mutating func finish(_ family: Family?) throws {
        guard let family else { return }
        func fail(_ reason: String) -> Problem { Problem(description: "\(family.name): \(reason)") }
        guard !family.samples.isEmpty else { throw fail("no samples") }
        guard
            Set(family.samples.map { [$0.name: "", "": ""].merging($0.labels) { $1 } }).count
                == family.samples.count
        else { throw fail("a series occurs twice") }
        if family.kind == "histogram" {
            try Self.checkHistogram(family, fail)
        } else {
            guard family.samples.allSatisfy({ $0.name == family.name }) else {
                throw fail("a sample of another family")
            }
            guard family.kind != "counter" || family.samples.allSatisfy({ $0.value >= 0 }) else {
                throw fail("a negative counter")
            }
        }
        families[family.name] = family
    }

    private static func checkHistogram(
        _ family: Family, _ fail: (String) -> Problem
    ) throws {
        let series = Dictionary(grouping: family.samples) { $0.labels.filter { $0.key != "le" } }
        for samples in series.values {
            let buckets = samples.filter { $0.name == "\(family.name)_bucket" }
            let bounds = try buckets.map { bucket in
                guard let bound = bucket.labels["le"] else { throw fail("a bucket without le") }
                return try number(Substring(bound))
            }
            guard bounds.last == .infinity, bounds == bounds.sorted(),
                Set(bounds).count == bounds.count
            else { throw fail("bounds") }
            let counts = buckets.map(\.value)
            guard counts == counts.sorted() else { throw fail("buckets are not cumulative") }
            let others = samples.filter { $0.name != "\(family.name)_bucket" }
            guard others.map(\.name) == ["\(family.name)_sum", "\(family.name)_count"],
                others[1].value == counts.last
            else { throw fail("sum and count") }
        }
    }

    private static func isValid(_ name: String, kind: String) -> Bool {
        let isTotal = name.hasSuffix("_total")
        let units = ["milli", "micro", "nano", "kilo", "mega", "_ms", "_kb", "_mb", "percent"]
        guard name.wholeMatch(of: /[a-z]+(_[a-z0-9]+)*/) != nil,
            !units.contains(where: name.contains)
        else { return false }
        switch kind {
        case "counter": return isTotal
        case "gauge", "histogram":
            return !isTotal && !["_count", "_sum", "_bucket"].contains(where: name.hasSuffix)
        default: return false
        }
    }

    private static func sample(_ line: Substring) throws -> Sample {
        let form = /([a-z_0-9]+)(?:\{((?:[a-z_]+="(?:[^"\\\n]|\\[\\"n])*",?)+)\})? (\S+)/
        guard let match = line.wholeMatch(of: form) else {
            throw Problem(description: "no sample: \(line)")
        }
        var labels: [String: String] = [:]
        if let list = match.2 {
            guard !list.hasSuffix(",") else { throw Problem(description: "a comma: \(line)") }
            for label in list.matches(of: /([a-z_]+)="((?:[^"\\\n]|\\[\\"n])*)"/) {
                let old = labels.updateValue(try unescaped(label.2), forKey: String(label.1))
                guard old == nil else { throw Problem(description: "a label twice: \(line)") }
            }
        }
        return Sample(name: String(match.1), labels: labels, value: try number(match.3))
    }

    private static func number(_ text: Substring) throws -> Double {
        switch text {
        case "+Inf": return .infinity
        case "-Inf": return -.infinity
        case "NaN": return .nan
        default:
            guard text.wholeMatch(of: /-?[0-9]+(\.[0-9]+)?(e[+-]?[0-9]+)?/) != nil,
                let number = Double(text)
            else { throw Problem(description: "no number: \(text)") }
            return number
        }
    }

    private static func unescaped(_ text: Substring) throws -> String {
        var result = ""
        var rest = text
        while let character = rest.popFirst() {
            guard character == "\\" else {
                result.append(character)
                continue
            }
            switch rest.popFirst() {
            case "\\": result.append("\\")
            case "n": result.append("\n")
            case "\"": result.append("\"")
            default: throw Problem(description: "an escape: \(text)")
            }
        }
        return result
    }
}
