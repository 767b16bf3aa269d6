/// The sides of comparisons: literals, arguments, key paths, lists, subqueries.
extension FormatParser {
    /// A value, or an expression in parentheses, and nothing behind it that would change it.
    mutating func operand() throws(LarderError) -> QueryExpression {
        let operand = try primary()
        switch token.kind {
        case .symbol("+"), .symbol("-"), .symbol("*"), .symbol("/"), .symbol("**"):
            throw unsupported("arithmetic")
        case .symbol("["): throw unsupported("an index")
        default: break
        }
        switch token.keyword {
        case .union, .intersect, .minus: throw unsupported("an operation on collections")
        default: return operand
        }
    }

    /// The right side of an operator; behind IN and BETWEEN parentheses are a list's.
    mutating func rightOperand(
        of comparisonOperator: Comparison.Operator
    ) throws(LarderError) -> QueryExpression {
        let start = token
        let right: QueryExpression
        switch comparisonOperator {
        case .in where token.kind == .symbol("("), .between where token.kind == .symbol("("):
            right = try list(closing: ")")
        default: right = try operand()
        }
        if right.isCompound {
            throw lexer.failure(
                .malformedPredicate, "the right side of the operator is a predicate",
                at: start.start)
        }
        if comparisonOperator == .between {
            guard case .list(let bounds) = right, bounds.count == 2 else {
                throw lexer.failure(
                    .malformedPredicate, "expected two bounds in braces: `{1, 9}`",
                    at: start.start)
            }
        }
        return right
    }

    private mutating func primary() throws(LarderError) -> QueryExpression {
        switch token.kind {
        case .string(let text):
            try advance()
            return .constant(.string(text))
        case .integer, .double: return .constant(try number(isNegative: false))
        case .symbol("-"), .symbol("+"):
            let isNegative = token.kind == .symbol("-")
            try advance()
            switch token.kind {
            case .integer, .double: return .constant(try number(isNegative: isNegative))
            default: throw unsupported("arithmetic")
            }
        case .argument:
            let place = try nextArgument()
            try advance()
            return .argument(place)
        case .keyPathArgument: return try keyPathArgument()
        case .variable(let name): return try variable(name)
        case .name: return try named()
        case .symbol("("): return try parenthesised()
        case .symbol("{"): return try list(closing: "}")
        case .collectionOperator(let name):
            throw expected("a key path in front of `@\(name.prefix(Limits.nameBytesMax))`")
        case .comparison, .and, .or, .not:
            throw expected("a value", hint: lexer.word(of: token) == nil ? nil : Self.escapeHint)
        case .symbol, .end: throw expected("a value")
        }
    }

    private static let escapeHint = "a property of that name is written with `#` in front"

    private mutating func number(isNegative: Bool) throws(LarderError) -> Value {
        let value: Value
        switch token.kind {
        case .double(let double): value = .double(isNegative ? -double : double)
        case .integer(let magnitude):
            let integer =
                isNegative ? Int64(exactly: magnitude).map { -$0 } : Int64(exactly: magnitude)
            if let integer {
                value = .int(integer)
            } else if isNegative, magnitude == Int64.min.magnitude {
                value = .int(.min)
            } else {
                throw failure("the number is too large for 64 bits")
            }
        default: throw expected("a number")
        }
        try advance()
        return value
    }

    /// A keyword that is a value, a subquery, or a key path.
    private mutating func named() throws(LarderError) -> QueryExpression {
        let constant: Value
        switch token.keyword {
        case nil: return try keyPath(from: .object)
        case .true, .yes, .truePredicate: constant = .bool(true)
        case .false, .no, .falsePredicate: constant = .bool(false)
        case .null, .nil: constant = .null
        case .subquery: return try subquery()
        case .object:
            try advance()
            guard try skip(.symbol(".")) else { return .object }
            return try keyPath(from: .object)
        default:
            throw expected("a value", hint: Self.escapeHint)
        }
        try advance()
        return .constant(constant)
    }

    private mutating func parenthesised() throws(LarderError) -> QueryExpression {
        try enter()
        try advance()
        let first = try disjunction()
        guard token.kind == .symbol(",") else {
            guard try skip(.symbol(")")) else { throw expected("`)`") }
            leave()
            return first
        }
        if first.isCompound { throw failure("a predicate is no element of a list") }
        var elements = [first]
        while try skip(.symbol(",")) { elements.append(try element()) }
        try require(")")
        leave()
        return .list(elements)
    }

    private mutating func list(closing symbol: String) throws(LarderError) -> QueryExpression {
        try enter()
        try advance()
        var elements: [QueryExpression] = []
        if token.kind != .symbol(symbol) {
            repeat { elements.append(try element()) } while try skip(.symbol(","))
        }
        guard try skip(.symbol(symbol)) else { throw expected("`,` or `\(symbol)`") }
        leave()
        return .list(elements)
    }

    private mutating func element() throws(LarderError) -> QueryExpression {
        let start = token.start
        let element = try operand()
        if element.isCompound {
            throw lexer.failure(
                .malformedPredicate, "a predicate is no element of a list", at: start)
        }
        return element
    }

    /// `SUBQUERY(keypath, $x, predicate)`, perhaps with `.@count`.
    private mutating func subquery() throws(LarderError) -> QueryExpression {
        try enter()
        try advance()
        try require("(")
        let start = token.start
        let collection = try operand()
        guard case .keyPath = collection else {
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
        guard try skip(.symbol(".")) else { return subquery }
        guard case .collectionOperator = token.kind else {
            throw unsupported("a property of a subquery's objects")
        }
        return .collection(try collectionOperator(), subquery)
    }
}
