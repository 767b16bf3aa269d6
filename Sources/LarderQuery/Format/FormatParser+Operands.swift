import LarderModel

/// The operands of comparisons: literals, arguments, lists, subqueries, and expressions in
/// parentheses.
extension FormatParser {
    /// Reads a value: an arithmetic expression of literals, key paths and function calls.
    mutating func operand() throws(LarderError) -> QueryExpression {
        let operand = try sum()
        if token.kind == .symbol("[") {
            throw unsupported(
                "an index in brackets", hint: "write `ANY`, or a SUBQUERY over the collection")
        }
        switch token.keyword {
        case .union:
            throw unsupported("UNION", hint: "join two conditions with OR")
        case .intersect:
            throw unsupported("INTERSECT", hint: "join two conditions with AND")
        case .minus:
            throw unsupported("MINUS", hint: "join two conditions with AND NOT")
        default: return operand
        }
    }

    /// Reads the right side of an operator. After IN and BETWEEN, parentheses enclose a list.
    mutating func rightOperand(
        of comparisonOperator: Comparison.Operator
    ) throws(LarderError) -> QueryExpression {
        let start = token.start
        let right: QueryExpression
        switch comparisonOperator {
        case .in where token.kind == .symbol("("), .between where token.kind == .symbol("("):
            right = try list(closing: ")")
        default: right = try operand()
        }
        guard comparisonOperator == .between else { return right }
        switch right {
        case .list(let bounds) where bounds.count == 2: return right
        case .argument, .variable: return right
        default:
            throw lexer.failure(
                .malformedPredicate, "expected two bounds in braces: `{1, 9}`", at: start)
        }
    }

    mutating func primary() throws(LarderError) -> QueryExpression {
        let first = token
        switch token.kind {
        case .string(let text):
            try advance()
            return try made(.constant(.string(text)), at: first.start)
        case .integer, .fraction:
            try advance()
            return try made(.constant(try number(first, isNegative: false)), at: first.start)
        case .argument:
            let index = try nextArgument()
            try advance()
            return try made(.argument(index), at: first.start)
        case .keyPathArgument: return try keyPathArgument()
        case .variable(let name): return try variable(name)
        case .name(let name, let isEscaped): return try named(name, isEscaped: isEscaped)
        case .symbol("("): return try parenthesised()
        case .symbol("{"): return try list(closing: "}")
        case .collectionOperator(let name):
            throw expected("a key path before `@\(name.prefix(Limits.nameBytesMax))`")
        case .comparison, .and, .or, .not:
            throw expected("a value", hint: valueHint)
        case .symbol, .end: throw expected("a value", hint: valueHint)
        }
    }

    /// The hint for a token in the position of a value.
    private var valueHint: String? {
        if lexer.word(of: token) != nil { return Self.escapeHint }
        switch token.kind {
        case .comparison where token.start > 0 && lexer.bytes[token.start - 1] == UInt8(ascii: "="):
            return "write `==` or `!=`"
        case .symbol("*"):
            // In `a + * b` the asterisk is an operator without its operand.
            let next = lexer.bytes[lexer.position...].first { $0 != 0x20 }
            guard next == nil || next == UInt8(ascii: ")") || next == UInt8(ascii: ",") else {
                return nil
            }
            return "write `articles.@count` to count related objects; other objects are counted "
                + "by a query"
        default: return nil
        }
    }

    private static let escapeHint = "write `#` before the name of a property that is a keyword"

    func number(_ literal: FormatToken, isNegative: Bool) throws(LarderError) -> Value {
        switch literal.kind {
        case .fraction(.double(let double)): return .double(isNegative ? -double : double)
        case .fraction(.decimal(let decimal)): return .decimal(isNegative ? -decimal : decimal)
        case .integer(let magnitude):
            if isNegative, magnitude == Int64.min.magnitude { return .int(.min) }
            if let integer = Int64(exactly: magnitude) {
                return .int(isNegative ? -integer : integer)
            }
            throw lexer.failure(
                .malformedPredicate, "the number is too large for 64 bits",
                hint: FormatHint.largeInteger, at: literal.start)
        default: throw expected("a number")
        }
    }

    /// Reads a keyword that is a value, a subquery, a function call, or a key path.
    private mutating func named(
        _ name: String, isEscaped: Bool
    ) throws(LarderError) -> QueryExpression {
        let first = token
        let constant: Value
        switch token.keyword {
        case nil:
            try advance()
            if token.kind == .symbol("("), !isEscaped { return try call(first, name) }
            return try keyPath(from: .object, [name], at: first.start)
        case .true, .yes, .truePredicate: constant = .bool(true)
        case .false, .no, .falsePredicate: constant = .bool(false)
        case .null, .nil: constant = .null
        case .subquery: return try subquery()
        case .object:
            try advance()
            return try keyPath(from: try made(.object, at: first.start), at: first.start)
        default:
            throw expected("a value", hint: Self.escapeHint)
        }
        try advance()
        return try made(.constant(constant), at: first.start)
    }

    /// Reads a value, a predicate used as a value, or a list in parentheses.
    private mutating func parenthesised() throws(LarderError) -> QueryExpression {
        let start = token.start
        try enter()
        try advance()
        var elements = [try disjunction()]
        while try skip(.symbol(",")) { elements.append(try disjunction()) }
        guard try skip(.symbol(")")) else { throw expected("`)`") }
        leave()
        return elements.count == 1 ? elements[0] : try made(.list(elements), at: start)
    }

    private mutating func list(closing symbol: String) throws(LarderError) -> QueryExpression {
        let start = token.start
        return try made(.list(try elements(closing: symbol)), at: start)
    }

    /// Reads the elements between the current bracket and the closing one.
    mutating func elements(closing symbol: String) throws(LarderError) -> [QueryExpression] {
        try enter()
        try advance()
        var elements: [QueryExpression] = []
        if token.kind != .symbol(symbol) {
            repeat { elements.append(try disjunction()) } while try skip(.symbol(","))
        }
        guard try skip(.symbol(symbol)) else { throw expected("`,` or `\(symbol)`") }
        leave()
        return elements
    }

    /// Reads `SUBQUERY(collection, $x, predicate)` and a key path that continues it.
    private mutating func subquery() throws(LarderError) -> QueryExpression {
        let first = token.start
        try enter()
        try advance()
        try require("(")
        let start = token.start
        let collection = try operand()
        guard collection.isPath else {
            throw lexer.failure(
                .malformedPredicate, "expected the key path of a to-many relationship", at: start)
        }
        try require(",")
        guard case .variable(let name) = token.kind else {
            throw expected("a variable such as `$x`")
        }
        try advance()
        try require(",")
        variables.append(name)
        let condition = try predicate()
        variables.removeLast()
        try require(")")
        leave()
        let subquery = QueryExpression.subquery(collection, variable: name, predicate: condition)
        return try keyPath(from: try made(subquery, at: first), at: first)
    }
}
