import ArgumentParser
import LarderModel

/// A column of `aggregate`: `[NAME=]FUNCTION[:EXPRESSION][ where FORMAT]`, such as `count`,
/// `sum:wordCount`, `words=sum:wordCount` or `long=count where wordCount > 1000`.
struct ColumnArgument: ExpressibleByArgument {
    let column: Aggregate.Column
    /// The expression and the filter, as typed.
    let text: String?
    let filter: String?

    init?(argument: String) {
        let (name, rest) = ExpressionSplitter.named(argument)
        let filtered = ExpressionSplitter(rest).aroundWhere
        let parts = (filtered?.column ?? rest).split(
            separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard name?.isEmpty != true, filtered?.filter.isEmpty != true, let word = parts.first,
            let function = AggregateFunction(rawValue: String(word)),
            parts.count == 2 ? !parts[1].isEmpty : function == .count
        else { return nil }
        let text = parts.count == 2 ? String(parts[1]) : nil
        self.column = Aggregate.Column(
            function, text, where: filtered?.filter, name: name ?? argument)
        self.text = text
        self.filter = filtered?.filter
    }
}

/// A group key of `aggregate`: `[NAME=]EXPRESSION`.
struct GroupArgument: ExpressibleByArgument {
    let column: QueryColumn
    /// The expression, as typed.
    let text: String

    init?(argument: String) {
        let (name, text) = ExpressionSplitter.named(argument)
        guard name?.isEmpty != true, !text.isEmpty else { return nil }
        self.column = QueryColumn(text, name: name)
        self.text = text
    }
}
