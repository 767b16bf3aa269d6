import ArgumentParser
import LarderModel

/// `[NAME=]FUNCTION[:EXPRESSION][ where FORMAT]`: `count`, `sum:wordCount`, `words=sum:wordCount`,
/// `long=count where wordCount > 1000`.
struct ColumnArgument: ExpressibleByArgument {
    let column: Aggregate.Column
    /// The expression and the filter as they were typed.
    let text: String?
    let filter: String?

    init?(argument: String) {
        let (name, rest) = ExpressionText.named(argument)
        let halves = ExpressionText(rest).whereHalves
        let parts = (halves?.asked ?? rest).split(
            separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard name?.isEmpty != true, halves?.filter.isEmpty != true, let word = parts.first,
            let function = AggregateFunction(rawValue: String(word)),
            parts.count == 2 ? !parts[1].isEmpty : function == .count
        else { return nil }
        let text = parts.count == 2 ? String(parts[1]) : nil
        self.column = Aggregate.Column(
            function, text, where: halves?.filter, name: name ?? argument)
        self.text = text
        self.filter = halves?.filter
    }
}

/// `[NAME=]EXPRESSION`: a group key.
struct GroupArgument: ExpressibleByArgument {
    let column: QueryColumn
    /// The expression as it was typed.
    let text: String

    init?(argument: String) {
        let (name, text) = ExpressionText.named(argument)
        guard name?.isEmpty != true, !text.isEmpty else { return nil }
        self.column = QueryColumn(text, name: name)
        self.text = text
    }
}
