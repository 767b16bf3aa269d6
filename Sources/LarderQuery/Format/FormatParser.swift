import LarderModel

/// Parses tokens into a tree by recursive descent, one function per precedence level.
///
///     or         := and (OR and)*
///     and        := not (AND not)*
///     not        := NOT not | comparison
///     comparison := (ANY | SOME | ALL | NONE)? operand (operator options? operand)?
///                 | (ANY | SOME | ALL | NONE) SEARCH call
///                 | operand IS name
///
/// `FormatParser+Operands.swift` has the operands, `FormatParser+Arithmetic.swift` the arithmetic
/// operators. An expression in parentheses may be a predicate or a value; the code that uses it
/// checks which is required. Recursion is bounded: each bracket, NOT, SUBQUERY, sign, power and
/// further operand of a sum or product is a level, and ``Limits/expressionDepthMax`` limits the
/// levels. The same limit is checked for the finished tree.
struct FormatParser {
    private(set) var lexer: FormatLexer
    /// The current token; everything before it has been read.
    private(set) var token: FormatToken
    /// The positions of the tree's nodes in the text.
    private(set) var sourceMap: FormatSourceMap
    private let arguments: [QueryArgument]
    private let firstArgument: Int
    private(set) var argumentsUsed = 0
    private(set) var usesKeyPathArguments = false
    private var depth = 0
    /// Whether a SUBQUERY around the text may declare variables.
    var isPart = false
    /// The variables declared by enclosing subqueries, innermost last.
    var variables: [String] = []

    init(
        _ text: FormatText, arguments: [QueryArgument], firstArgument: Int
    ) throws(LarderError) {
        lexer = FormatLexer(text)
        sourceMap = FormatSourceMap(text)
        self.arguments = arguments
        self.firstArgument = firstArgument
        token = try lexer.next()
    }

    mutating func wholePredicate() throws(LarderError) -> QueryExpression {
        let expression = try predicate()
        guard token.kind == .end else {
            if case .keyPath = expression { throw expectedOperator(after: expression) }
            throw expected("AND, OR or the end", hint: hint(after: expression))
        }
        return expression
    }

    /// Reads a value or a predicate.
    mutating func wholeExpression() throws(LarderError) -> QueryExpression {
        let expression = try disjunction()
        guard token.kind == .end else { throw expected("an operator or the end") }
        return expression
    }

    /// Reads an expression that must be a predicate.
    mutating func predicate() throws(LarderError) -> QueryExpression {
        let expression = try disjunction()
        try requirePredicate(expression)
        return expression
    }

    /// Reads a predicate or a single value.
    mutating func disjunction() throws(LarderError) -> QueryExpression {
        let start = token.start
        let first = try conjunction()
        guard token.kind == .or else { return first }
        try requirePredicate(first)
        var operands = [first]
        while token.kind == .or {
            let isBars = lexer.bytes[token.start] == UInt8(ascii: "|")
            try advance()
            let operand = try conjunction()
            guard operand.isPredicate else {
                throw expectedOperator(after: operand, hint: isBars ? FormatHint.bars : nil)
            }
            operands.append(operand)
        }
        return try made(.or(operands), at: start)
    }

    private mutating func conjunction() throws(LarderError) -> QueryExpression {
        let start = token.start
        let first = try negation()
        guard token.kind == .and else { return first }
        try requirePredicate(first)
        var operands = [first]
        while try skip(.and) {
            operands.append(try negation())
            try requirePredicate(operands[operands.count - 1])
        }
        return try made(.and(operands), at: start)
    }

    private mutating func negation() throws(LarderError) -> QueryExpression {
        guard token.kind == .not else { return try comparison() }
        let start = token.start
        try enter()
        try advance()
        let operand = try negation()
        try requirePredicate(operand)
        leave()
        return try made(.not(operand), at: start)
    }

    private mutating func comparison() throws(LarderError) -> QueryExpression {
        let start = token.start
        let modifier: Comparison.Modifier
        let isNone = token.keyword == .noneOf
        switch token.keyword {
        case .any, .someOf, .noneOf: modifier = .any
        case .all: modifier = .all
        default: modifier = .direct
        }
        if modifier != .direct { try advance() }
        let left = try operand()
        if modifier == .direct, let test = try typeTest(of: left) { return test }
        guard case .comparison(let comparisonOperator) = token.kind else {
            if modifier != .direct, case .function(.search, _) = left {
                let holds = QueryExpression.comparison(
                    Comparison(left, .equal, .constant(.bool(true)), modifier: modifier))
                let search = try made(holds, at: start)
                return isNone ? try made(.not(search), at: start) : search
            }
            if modifier != .direct {
                let isTypeTest = isWord("IS")
                throw expected(
                    "a comparison operator",
                    hint: isTypeTest ? "use IS inside a SUBQUERY to test many objects" : nil)
            }
            return left
        }
        let operatorStart = token.start
        try advance()
        let options = try options(of: comparisonOperator)
        let right = try rightOperand(of: comparisonOperator)
        if case .comparison = token.kind {
            throw failure(
                "a comparison cannot follow a comparison; join them with AND",
                hint: "put a comparison in parentheses to use its result, TRUE or FALSE, as a value"
            )
        }
        let comparison = try made(
            .comparison(
                Comparison(left, comparisonOperator, right, options: options, modifier: modifier)),
            at: operatorStart)
        return isNone ? try made(.not(comparison), at: start) : comparison
    }

    private func isWord(_ word: String) -> Bool {
        if case .name(let name, false) = token.kind { name.uppercased() == word } else { false }
    }

    /// Reads `IS Student` after an operand. IS is not a keyword elsewhere, since a property may
    /// have that name.
    private mutating func typeTest(
        of operand: QueryExpression
    ) throws(LarderError) -> QueryExpression? {
        guard isWord("IS") else { return nil }
        try advance()
        let start = token.start
        guard case .name(let name, let isEscaped) = token.kind,
            isEscaped || token.keyword == nil
        else {
            throw expected("the name of an entity", hint: typeTestHint)
        }
        guard name.utf8.count <= Limits.nameBytesMax else {
            throw failure("the name is longer than \(Limits.nameBytesMax) bytes")
        }
        try advance()
        return try made(.typeTest(operand, entityName: name), at: start)
    }

    /// The hint for a keyword after IS: `IS NULL` compares, `IS` tests the entity of an object.
    private var typeTestHint: String? {
        switch token.keyword {
        case .null, .nil: "write `== NULL`"
        case .true, .yes: "write `== TRUE`"
        case .false, .no: "write `== FALSE`"
        default: token.kind == .not ? "write `!= NULL`, or `NOT` before the comparison" : nil
        }
    }

    /// Reads `[c]`, `[d]`, `[cd]` or `[n]` after an operator.
    private mutating func options(
        of comparisonOperator: Comparison.Operator
    ) throws(LarderError) -> Comparison.Options {
        var options: Comparison.Options = []
        guard try skip(.symbol("[")) else { return options }
        let listHint = comparisonOperator == .in ? "write the list in braces: {1, 2}" : nil
        guard case .name(let flags, false) = token.kind else {
            throw expected(Self.optionFlags, hint: listHint)
        }
        for flag in flags.lowercased() {
            switch flag {
            case "c": options.insert(.caseInsensitive)
            case "d": options.insert(.diacriticInsensitive)
            case "n": options.insert(.normalized)
            case "l", "w":
                throw unsupported(
                    "`[\(flag)]`",
                    hint: "string comparison does not depend on a locale: write `[cd]`")
            default: throw expected(Self.optionFlags, hint: listHint)
            }
        }
        guard !options.contains(.normalized) || options == .normalized else {
            throw failure("`[n]` cannot be combined with other options")
        }
        try advance()
        try require("]")
        return options
    }

    private static let optionFlags = "`c`, `d`, `cd` or `n`"

    private func requirePredicate(_ expression: QueryExpression) throws(LarderError) {
        guard expression.isPredicate else { throw expectedOperator(after: expression) }
    }

    /// - Parameter hint: The hint unless the expression has another one.
    private func expectedOperator(
        after expression: QueryExpression, hint: String? = nil
    ) -> LarderError {
        let hint: String? =
            switch expression {
            case .subquery: FormatHint.countedSubquery
            case .keyPath(.object, let steps) where steps.count == 1:
                FormatHint.firstWord(steps[0])
            default: hint
            }
        return expected("a comparison operator", hint: hint)
    }

    /// The hint for a word after a predicate: `name == Ann Lee` is text without quotation marks,
    /// and `date == DATE '2026-01-31'` SQL.
    private func hint(after expression: QueryExpression) -> String? {
        guard case .comparison(let comparison) = expression,
            case .keyPath(.object, let steps) = comparison.right, steps.count == 1
        else { return nil }
        switch token.kind {
        case .name: return FormatHint.quotes
        case .string: return FormatHint.firstWord(steps[0])
        default: return nil
        }
    }
}

/// Tokens, tree nodes, nesting levels, arguments and errors.
extension FormatParser {
    mutating func advance() throws(LarderError) { token = try lexer.next() }

    /// Advances to a step of a key path: `.0.1` has two steps and no fraction.
    mutating func advanceToStep() throws(LarderError) { token = try lexer.nextStep() }

    /// Records the position of a node of the tree and returns it.
    ///
    /// - Parameter steps: The positions of the steps of a key path.
    mutating func made(
        _ expression: QueryExpression, at start: Int, steps: [Int] = []
    ) throws(LarderError) -> QueryExpression {
        guard sourceMap.count < Limits.expressionNodesMax else {
            throw lexer.text.locating(QueryExpression.tooLarge, at: start)
        }
        sourceMap.add(expression, at: start, steps: steps)
        return expression
    }

    mutating func skip(_ kind: FormatToken.Kind) throws(LarderError) -> Bool {
        guard token.kind == kind else { return false }
        try advance()
        return true
    }

    mutating func require(_ symbol: String) throws(LarderError) {
        guard try skip(.symbol(symbol)) else { throw expected("`\(symbol)`") }
    }

    /// Begins a nesting level at the current token.
    mutating func enter() throws(LarderError) {
        depth += 1
        guard depth <= Limits.expressionDepthMax else {
            throw lexer.failure(
                .resourceExhausted,
                "nested more than \(Limits.expressionDepthMax) levels deep",
                at: token.start)
        }
    }

    mutating func leave() { depth -= 1 }

    /// The index of the next argument.
    mutating func nextArgument() throws(LarderError) -> Int {
        let index = firstArgument + argumentsUsed
        guard arguments.indices.contains(index) else {
            throw failure("no argument was passed for this placeholder")
        }
        argumentsUsed += 1
        return index
    }

    /// The next argument as the text of a key path.
    mutating func nextKeyPathArgument() throws(LarderError) -> String {
        usesKeyPathArguments = true
        guard case .value(.string(let text)) = arguments[try nextArgument()] else {
            throw failure("the argument of `%K` is not a string")
        }
        return text
    }

    func expected(_ what: String, hint: String? = nil) -> LarderError {
        failure("expected \(what), found \(token.description)", hint: hint ?? tokenHint)
    }

    /// The hint for a token of another language that is not expected here.
    private var tokenHint: String? {
        switch token.kind {
        case .not: FormatHint.word("NOT")
        case .name(let name, isEscaped: false): FormatHint.word(name)
        case .string where token.start > 0 && lexer.bytes[token.start - 1] == quote:
            "in text, write a backslash before a quotation mark: 'it\\'s'"
        default: nil
        }
    }

    /// The quotation mark of a string that is the current token.
    private var quote: UInt8 { lexer.bytes[token.start] }

    func failure(_ sentence: String, hint: String? = nil) -> LarderError {
        lexer.failure(.malformedPredicate, sentence, hint: hint, at: token.start)
    }

    func unsupported(_ what: String, hint: String? = nil) -> LarderError {
        lexer.failure(.unsupported, "\(what) is not supported", hint: hint, at: token.start)
    }
}
