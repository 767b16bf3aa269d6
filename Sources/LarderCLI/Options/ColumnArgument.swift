import ArgumentParser
import LarderModel

/// A column of `aggregate`: `[NAME=]FUNCTION[:EXPRESSION][ where FORMAT]`, such as `count`,
/// `sum:wordCount`, `words=sum:wordCount` or `long=count where wordCount > 1000`.
struct ColumnArgument {
    let column: Aggregate.Column
    /// The expression and the filter, as typed.
    let text: String?
    let filter: String?

    /// - Throws: `ValidationError`, a usage error that says what to write.
    init(_ argument: String) throws {
        let splitter = ExpressionSplitter(argument)
        if let (column, name) = splitter.around(word: "as") {
            throw ValidationError("write `\(name)=\(column)` to name the column")
        }
        let (name, rest) = ExpressionSplitter.named(argument)
        let filtered = ExpressionSplitter(rest).around(word: "where")
        let parts = (filtered?.left ?? rest).split(
            separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard name?.isEmpty != true, filtered?.right.isEmpty != true, let word = parts.first,
            let function = AggregateFunction(rawValue: String(word)),
            parts.count == 2 ? !parts[1].isEmpty : function == .count
        else { throw Self.rejection(of: filtered?.left ?? rest) }
        let text = parts.count == 2 ? String(parts[1]) : nil
        self.column = Aggregate.Column(
            function, text, where: filtered?.right, name: name ?? argument)
        self.text = text
        self.filter = filtered?.right
    }

    /// The error for a column such as `avg:pages`, `SUM(pages)` or `COUNT(*)`.
    private static func rejection(of column: String) -> ValidationError {
        let end = column.firstIndex { $0 == ":" || $0 == "(" }
        let word = column[..<(end ?? column.endIndex)]
        guard let function = FormatHint.aggregateFunction(String(word)) else {
            let names = AggregateFunction.allCases.map(\.rawValue).joined(separator: ", ")
            return ValidationError("the functions are \(names), followed by :EXPRESSION")
        }
        var operand = column[(end ?? column.endIndex)...].dropFirst()
        if end.map({ column[$0] == "(" }) == true, operand.last == ")" { operand.removeLast() }
        if operand.isEmpty || operand == "*" {
            return ValidationError(
                function == .count
                    ? "write `count`" : "write `\(function.rawValue):` and an expression")
        }
        return ValidationError("write `\(function.rawValue):\(operand)`")
    }
}

/// A group key of `aggregate`: `[NAME=]EXPRESSION`.
struct GroupArgument {
    let column: QueryColumn
    /// The expression, as typed.
    let text: String

    /// - Throws: `ValidationError`, a usage error that says what to write.
    private init(_ argument: String) throws {
        if let (column, name) = ExpressionSplitter(argument).around(word: "as") {
            throw ValidationError("write `\(name)=\(column)` to name the column")
        }
        let (name, text) = ExpressionSplitter.named(argument)
        guard name?.isEmpty != true, !text.isEmpty else {
            throw ValidationError("write [NAME=]EXPRESSION")
        }
        self.column = QueryColumn(text, name: name)
        self.text = text
    }

    /// Parses a list of group keys, separated by commas.
    static func list(_ argument: String) throws -> [GroupArgument] {
        try ExpressionSplitter(argument).parts.map { try GroupArgument($0) }
    }
}
