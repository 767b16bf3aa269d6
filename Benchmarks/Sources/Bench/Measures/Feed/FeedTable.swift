/// The table of the measure `feed`: a row per quantity, a column per side.
struct FeedTable {
    struct Row {
        var label: String
        var unit: String
        /// By side and round.
        var values: [[Double]]
        /// The 99th percentiles, if the values are medians.
        var p99: [[Double]]?
        /// Whether a value may be negative, so that a ratio means nothing.
        var isSigned = false
        /// The sum of the numbers that subscribers have received, the same for all sides.
        var checksum: Int64
    }

    /// Larder first.
    let sides: [String]
    var rows: [Row] = []

    init(sides: [String]) { self.sides = sides }

    var lines: [String] {
        let peers = sides.dropFirst()
        let head = ["feed"] + sides + peers.map { "ratio to \($0)" } + ["checksum"]
        let rule = "|---|" + String(repeating: "---:|", count: head.count - 1)
        return ["| \(head.joined(separator: " | ")) |", rule] + rows.map(line)
    }

    private func line(_ row: Row) -> String {
        let values = sides.indices.map { side in
            let value = Report.short(row.values[side].median)
            guard let p99 = row.p99 else { return "\(value) \(row.unit)" }
            return "\(value) / \(Report.short(p99[side].median)) \(row.unit)"
        }
        let ratios = row.values.dropFirst().map { theirs in
            row.isSigned ? "–" : Report.short(row.values[0].median / theirs.median)
        }
        let label = row.p99 == nil ? row.label : "\(row.label), p50 / p99"
        let cells = [label] + values + ratios + [String(row.checksum)]
        return "| \(cells.joined(separator: " | ")) |"
    }

    /// The rows for JSON and for the comparison of two builds: one per quantity and peer.
    var reportRows: [Report.Row] {
        rows.flatMap { row in
            reportRows(row, row.values, row.p99 == nil ? "" : ", median")
                + (row.p99.map { reportRows(row, $0, ", p99") } ?? [])
        }
    }

    private func reportRows(_ row: Row, _ values: [[Double]], _ suffix: String) -> [Report.Row] {
        let measure = row.label + suffix
        guard values.count > 1 else {
            return [Report.Row(measure: measure, unit: row.unit, ours: values[0])]
        }
        return zip(sides, values).dropFirst().map { side, theirs in
            Report.Row(
                measure: measure, unit: row.unit, ours: values[0], peer: side, theirs: theirs)
        }
    }
}
