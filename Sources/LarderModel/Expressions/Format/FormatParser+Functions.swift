/// Function calls: `length(title)`, `ternary(isDraft, 0, 1)`, `sum(articles.wordCount)`.
extension FormatParser {
    /// Reads the operands of a function whose name has been read; the current token is the
    /// parenthesis.
    mutating func call(_ name: FormatToken, _ written: String) throws(LarderError)
        -> QueryExpression
    {
        guard let function = FormatFunction(written) else {
            throw lexer.failure(
                .malformedPredicate, "unknown function \(name.description)",
                hint: FormatFunction.hint(for: written),
                at: name.start)
        }
        if case .unsupported(let hint) = function {
            throw lexer.failure(
                .unsupported, "the function \(name.description) is not supported", hint: hint,
                at: name.start)
        }
        let operands = try elements(closing: ")")
        switch function {
        case .either(_, let aggregate) where operands.count == 1:
            return try self.aggregate(aggregate, of: operands, name)
        case .scalar(let function), .either(let function, _):
            guard function.operandCount.contains(operands.count) else {
                throw wrongCount(function.operandCount.operands, given: operands.count, name)
            }
            if function == .conditional, !operands[0].isPredicate {
                throw lexer.failure(
                    .malformedPredicate,
                    "the first operand of \(name.description) must be a predicate",
                    at: name.start)
            }
            return try made(.function(function, operands), at: name.start)
        case .aggregate(let aggregate):
            return try self.aggregate(aggregate, of: operands, name)
        case .unsupported: preconditionFailure("rejected above")
        }
    }

    private mutating func aggregate(
        _ function: AggregateFunction, of operands: [QueryExpression], _ name: FormatToken
    ) throws(LarderError) -> QueryExpression {
        guard operands.count == 1 else {
            throw wrongCount("1 operand", given: operands.count, name)
        }
        guard operands[0].isPath else {
            throw lexer.failure(
                .malformedPredicate,
                "\(name.description) takes a key path to many values, or a SUBQUERY",
                at: name.start)
        }
        return try made(.collection(function, operands[0]), at: name.start)
    }

    private func wrongCount(_ taken: String, given: Int, _ name: FormatToken) -> LarderError {
        lexer.failure(
            .malformedPredicate,
            "\(name.description) takes \(taken); \(given) \(given == 1 ? "was" : "were") given",
            at: name.start)
    }
}

extension QueryExpression {
    /// Whether the expression can be true or false, judged by its form alone.
    var isPredicate: Bool {
        switch self {
        case .comparison, .typeTest, .and, .or, .not, .keyPath, .constant(.bool), .argument,
            .variable, .function(.conditional, _), .function(.coalesce, _), .function(.search, _):
            true
        default: false
        }
    }

    /// Whether the expression can have many values, judged by its form alone.
    var isPath: Bool {
        switch self {
        case .keyPath, .subquery: true
        default: false
        }
    }
}
