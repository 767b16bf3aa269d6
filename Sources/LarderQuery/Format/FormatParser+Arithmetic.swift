import LarderModel

/// Arithmetic operators, one function per precedence level.
///
///     sum     := product (("+" | "-") product)*
///     product := signed (("*" | "/") signed)*
///     signed  := ("-" | "+") signed | power
///     power   := primary ("**" signed)?
extension FormatParser {
    mutating func sum() throws(LarderError) -> QueryExpression {
        try chain(["+": .add, "-": .subtract]) { (parser) throws(LarderError) in
            try parser.product()
        }
    }

    private mutating func product() throws(LarderError) -> QueryExpression {
        try chain(["*": .multiply, "/": .divide]) { (parser) throws(LarderError) in
            try parser.signed()
        }
    }

    /// Reads a left-associative chain. Each further operand nests the previous ones, so it counts
    /// as a level.
    private mutating func chain(
        _ functions: [String: ScalarFunction],
        _ operand: (inout FormatParser) throws(LarderError) -> QueryExpression
    ) throws(LarderError) -> QueryExpression {
        var left = try operand(&self)
        var levels = 0
        while case .symbol(let symbol) = token.kind, let function = functions[symbol] {
            let start = token.start
            try enter()
            levels += 1
            try advance()
            left = try made(.function(function, [left, try operand(&self)]), at: start)
        }
        for _ in 0..<levels { leave() }
        return left
    }

    private mutating func signed() throws(LarderError) -> QueryExpression {
        let start = token.start
        let isNegative = token.kind == .symbol("-")
        guard isNegative || token.kind == .symbol("+") else { return try power() }
        try enter()
        try advance()
        let signed: QueryExpression
        if !isNegative {
            signed = try self.signed()
        } else if token.isNumber {
            signed = try negativeNumber(at: start)
        } else {
            signed = try made(.function(.negate, [try self.signed()]), at: start)
        }
        leave()
        return signed
    }

    /// A minus sign and digits are one literal, except in `-2 ** 2`, which means `-(2 ** 2)`.
    private mutating func negativeNumber(at start: Int) throws(LarderError) -> QueryExpression {
        let literal = token
        try advance()
        guard token.kind == .symbol("**") else {
            return try made(.constant(try number(literal, isNegative: true)), at: start)
        }
        let base = QueryExpression.constant(try number(literal, isNegative: false))
        let power = try raised(try made(base, at: literal.start))
        return try made(.function(.negate, [power]), at: start)
    }

    private mutating func power() throws(LarderError) -> QueryExpression {
        try raised(try primary())
    }

    private mutating func raised(
        _ base: QueryExpression
    ) throws(LarderError) -> QueryExpression {
        guard token.kind == .symbol("**") else { return base }
        let start = token.start
        try enter()
        try advance()
        let power = QueryExpression.function(.power, [base, try signed()])
        leave()
        return try made(power, at: start)
    }
}
