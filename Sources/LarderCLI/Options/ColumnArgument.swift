import ArgumentParser
import LarderModel
import LarderQuery

/// A column of `aggregate`: `[NAME=]FUNCTION[:EXPRESSION][ where FORMAT]`, such as `count`,
/// `sum:wordCount`, `words=sum:wordCount` or `long=count where wordCount > 1000`. A function
/// also has its names in SQL, and its operand may be in parentheses: `avg:wordCount`,
/// `SUM(wordCount)`.
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
        let (word, operand) = Self.call(filtered?.left ?? rest)
        guard name?.isEmpty != true, filtered?.right.isEmpty != true,
            let function = AggregateFunction(column: word),
            operand != "", operand != nil || function == .count
        else { throw Self.rejection(of: filtered?.left ?? rest) }
        let text = function == .count && operand == "*" ? nil : operand
        self.column = Aggregate.Column(
            function, text, where: filtered?.right, name: name ?? argument)
        self.text = text
        self.filter = filtered?.right
    }

    /// The name of the function, and its operand after a colon or in parentheses.
    private static func call(_ column: String) -> (word: String, operand: String?) {
        guard let end = column.firstIndex(where: { $0 == ":" || $0 == "(" }) else {
            return (column, nil)
        }
        let word = String(column[..<end])
        let operand = column[end...].dropFirst()
        if column[end] == ":" { return (word, String(operand)) }
        // One operand, as in sum(a + b), and not several calls, as in sum(a) + sum(b).
        var depth = 1
        for index in operand.indices {
            if operand[index] == "(" { depth += 1 }
            if operand[index] == ")" { depth -= 1 }
            if depth == 0, operand.index(after: index) != operand.endIndex { return (column, nil) }
        }
        return depth == 0 ? (word, String(operand.dropLast())) : (column, nil)
    }

    private static func rejection(of column: String) -> ValidationError {
        guard let function = AggregateFunction(column: call(column).word) else {
            let names = AggregateFunction.allCases.map(\.rawValue).joined(separator: ", ")
            return ValidationError("the functions are \(names), followed by :EXPRESSION")
        }
        return ValidationError(
            function == .count
                ? "write `count`" : "write `\(function.rawValue):` and an expression")
    }
}

extension AggregateFunction {
    /// The function with a name of its own or of SQL, in any case.
    fileprivate init?(column word: String) {
        // A collection has a length, which is a count; a column of texts has none.
        if ["length", "size"].contains(word.lowercased()) { return nil }
        guard let function = AggregateFunction(rawValue: word) ?? FormatHint.aggregateFunction(word)
        else { return nil }
        self = function
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
