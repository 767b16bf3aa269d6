import FoundationEssentials

/// The table of results, for people and as JSON.
enum Report {
    struct Row {
        var measure: String
        var unit: String
        /// One value per round.
        var ours: [Double]
        var peer: String?
        var theirs: [Double] = []
        /// A goal for the ratio if there is a peer, otherwise for our value.
        var goal: Goal?

        var ratio: Double? { theirs.isEmpty ? nil : ours.median / theirs.median }

        var isMet: Bool? { goal.map { $0.isMet(by: ratio ?? ours.median) } }

        /// Half of the difference of the greatest and the least ratio of a round, relative to the
        /// median ratio; without a peer the same of the values.
        var spread: Double {
            let values = theirs.isEmpty ? ours : zip(ours, theirs).map { $0 / $1 }
            guard let least = values.min(), let greatest = values.max(), values.median > 0 else {
                return 0
            }
            return (greatest - least) / 2 / values.median
        }
    }

    static func line(_ row: Row) -> String {
        let goal: String =
            switch row.goal {
            case .atMost(let bound): "≤ \(short(bound))"
            case .atLeast(let bound): "≥ \(short(bound))"
            case nil: "–"
            }
        let cells = [
            row.measure, "\(short(row.ours.median)) \(row.unit)", row.peer ?? "–",
            row.theirs.isEmpty ? "–" : "\(short(row.theirs.median)) \(row.unit)",
            row.ratio.map(short) ?? "–", "± \(Int((row.spread * 100).rounded())) %", goal,
            row.isMet.map { $0 ? "met" : "**missed**" } ?? "–",
        ]
        return "| \(cells.joined(separator: " | ")) |"
    }

    static let head = """
        | measure | Larder | peer | peer's | ratio | spread | goal | |
        |---|---|---|---|---|---|---|---|
        """

    static func write(_ rows: [Row], to path: String) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        try encoder.encode(rows.map(Encoded.init)).write(to: URL(filePath: path))
    }

    /// The number with three significant digits.
    static func short(_ value: Double) -> String {
        guard value.isFinite else { return "–" }
        let size = abs(value)
        if size >= 100 { return String(Int(value.rounded())) }
        let scale: Double = size >= 10 ? 10 : size >= 1 ? 100 : 1_000
        return String((value * scale).rounded() / scale)
    }

    private struct Encoded: Encodable {
        var measure, unit: String
        var peer: String?
        var ours: Double
        var theirs, ratio: Double?
        var goal: String?
        var met: Bool?
        var rounds: Int
        var spread: Double

        init(_ row: Row) {
            measure = row.measure
            unit = row.unit
            peer = row.peer
            ours = row.ours.median
            theirs = row.theirs.isEmpty ? nil : row.theirs.median
            ratio = row.ratio
            goal =
                switch row.goal {
                case .atMost(let bound): "<= \(bound)"
                case .atLeast(let bound): ">= \(bound)"
                case nil: nil
                }
            met = row.isMet
            rounds = row.ours.count
            spread = row.spread
        }
    }
}

extension [Double] {
    var median: Double { percentile(0.5) }

    /// The least value that is greater than this part of the values; 0 if there are none.
    func percentile(_ part: Double) -> Double {
        guard !isEmpty else { return 0 }
        return sorted()[Swift.min(count - 1, Int(Double(count) * part))]
    }
}

/// The duration of the closure in microseconds.
func microseconds(_ body: () throws -> Void) rethrows -> Double {
    let start = ContinuousClock.now
    try body()
    return (ContinuousClock.now - start) / .microseconds(1)
}
