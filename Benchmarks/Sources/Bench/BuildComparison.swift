import FoundationEssentials

/// Compares two builds of Larder: runs each measure with both of them alternately, without peers,
/// and prints the ratio new/old of each value.
struct BuildComparison {
    /// The folders of the two builds' programs.
    let programs: String
    let baseline: String
    let isQuick: Bool

    /// A measure that is worse by more than this is named at the end.
    static let tolerance = 1.05

    private let rounds = 5

    func measure(_ measures: [any Measure]) throws -> [Report.Row] {
        for folder in [programs, baseline]
        where !FileManager.default.isExecutableFile(atPath: "\(folder)/larderd") {
            throw Problem("\(folder) has no program larderd; give the folder of a build")
        }
        printLine("| measure | new | old | new/old | spread | worse by |")
        printLine("|---|---|---|---|---|---|")
        var compared: [Report.Row] = []
        for measure in measures {
            let rows = try compare(measure)
            for row in rows { printLine(Self.line(row)) }
            compared += rows
        }
        let worse = compared.filter { Self.worsening($0) > Self.tolerance }
        printLine("")
        printLine("worse by more than 5 %: \(worse.isEmpty ? "none" : "")")
        for row in worse {
            let always = Self.isAlwaysWorse(row) ? "in each round" : "not in each round"
            printLine("- \(row.measure): \(Self.percent(Self.worsening(row))), \(always)")
        }
        return compared
    }

    /// - Returns: a row per value that the measure reports, in its order, with a value per round.
    private func compare(_ measure: any Measure) throws -> [Report.Row] {
        var order: [String] = []
        var compared: [String: Report.Row] = [:]
        for round in 0..<(isQuick || measure.isDeterministic ? 1 : rounds) {
            // The order alternates, so that neither build always runs first.
            for side in round % 2 == 0 ? [0, 1] : [1, 0] {
                let run = try Run(
                    programs: side == 0 ? programs : baseline, peers: nil,
                    scale: isQuick ? .quick : .comparison, isSilent: true)
                try measure.measure(run)
                for row in run.rows {
                    if compared[row.measure] == nil { order.append(row.measure) }
                    var merged =
                        compared[row.measure]
                        ?? Report.Row(
                            measure: row.measure, unit: row.unit, ours: [], peer: "old build")
                    if side == 0 {
                        merged.ours.append(row.ours.median)
                    } else {
                        merged.theirs.append(row.ours.median)
                    }
                    compared[row.measure] = merged
                }
            }
        }
        return order.compactMap { compared[$0] }
    }

    /// 1.1 if the new build takes a tenth longer, whichever way the unit counts.
    private static func worsening(_ row: Report.Row) -> Double {
        guard let ratio = row.ratio, ratio > 0, ratio.isFinite else { return 1 }
        return row.unit.hasSuffix("/s") ? 1 / ratio : ratio
    }

    private static func isAlwaysWorse(_ row: Report.Row) -> Bool {
        zip(row.ours, row.theirs).allSatisfy { new, old in
            row.unit.hasSuffix("/s") ? new < old : new > old
        }
    }

    private static func percent(_ worsening: Double) -> String {
        "\(Int(((worsening - 1) * 100).rounded())) %"
    }

    private static func line(_ row: Report.Row) -> String {
        let worsening = worsening(row)
        let cells = [
            row.measure, "\(Report.short(row.ours.median)) \(row.unit)",
            // The old build may not have what is measured.
            row.theirs.isEmpty ? "–" : "\(Report.short(row.theirs.median)) \(row.unit)",
            row.ratio.map(Report.short) ?? "–",
            "± \(Int((row.spread * 100).rounded())) %",
            worsening > tolerance ? "**\(percent(worsening))**" : percent(worsening),
        ]
        return "| \(cells.joined(separator: " | ")) |"
    }
}
