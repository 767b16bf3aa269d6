/// The table of the YCSB workloads: a line for each cell, with all stores next to each other.
struct YCSBTable {
    /// The names of the stores, Larder first.
    let stores: [String]
    /// Whether ratios that miss their goal are in bold.
    let isJudged: Bool

    func lines(_ results: [YCSB.Result]) -> [String] {
        var head = ["workload, connections"]
        head += stores.map { "\($0)/s" }
        head += stores.dropFirst().map { "ratio to \($0)" }
        head += stores.map { "\($0) p50 / p99 / p99.9" }
        head += stores.map { "\($0) at half: p99 / p99.9" }
        head += stores.dropFirst().map { "p99 at half: ratio to \($0)" }
        let rows = results.sorted { $0.cell.workload < $1.cell.workload }.map(line)
        return [
            "| \(head.joined(separator: " | ")) |",
            "|---|\(String(repeating: "---:|", count: head.count - 1))",
        ] + rows
    }

    private func line(_ result: YCSB.Result) -> String {
        let ours = result.outcomes[0]
        let rivals = zip(stores, result.outcomes).dropFirst()
        var cells = [result.cell.label]
        cells += result.outcomes.map { Report.short($0.throughput.median) }
        cells += rivals.map { name, theirs in
            judged(
                ours.throughput.median / theirs.throughput.median,
                YCSB.throughputGoal(result.cell.workload, name))
        }
        cells += result.outcomes.map { outcome in
            [outcome.closed.p50, outcome.closed.p99, outcome.closed.p999]
                .map { Report.short($0.median) }.joined(separator: " / ")
        }
        cells += result.outcomes.map { outcome in
            [outcome.open.p99, outcome.open.p999].map { Report.short($0.median) }
                .joined(separator: " / ")
        }
        cells += rivals.map { name, theirs in
            judged(ours.open.p99.median / theirs.open.p99.median, YCSB.latencyGoal(name))
        }
        return "| \(cells.joined(separator: " | ")) |"
    }

    /// The ratio, in bold if it misses its goal.
    private func judged(_ ratio: Double, _ goal: Goal?) -> String {
        let text = Report.short(ratio)
        return isJudged && goal?.isMet(by: ratio) == false ? "**\(text)**" : text
    }
}
