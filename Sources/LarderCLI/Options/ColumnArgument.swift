import ArgumentParser
import LarderModel

/// `[NAME=]FUNCTION[:KEYPATH]`: `count`, `sum:wordCount`, `words=sum:wordCount`.
struct ColumnArgument: ExpressibleByArgument {
    let column: Aggregate.Column

    init?(argument: String) {
        let halves = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let name = halves.count == 2 ? String(halves[0]) : nil
        guard let asked = halves.last, name?.isEmpty != true else { return nil }
        let parts = asked.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard let word = parts.first, let function = AggregateFunction(rawValue: String(word)),
            parts.count == 2 ? !parts[1].isEmpty : function == .count
        else { return nil }
        let keyPath = parts.count == 2 ? String(parts[1]) : nil
        self.column = Aggregate.Column(function, keyPath, name: name)
    }
}
