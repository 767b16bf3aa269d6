import LarderModel

/// Function calls: `length(title)`, `ternary(isDraft, 0, 1)`, `sum(articles.wordCount)`.
extension FormatParser {
    /// Reads the operands of a function whose name has been read; the current token is the
    /// parenthesis.
    mutating func call(_ name: FormatToken, _ written: String) throws(LarderError)
        -> QueryExpression
    {
        let function: FormatFunction
        let call: QueryExpression
        do throws(LarderError) {
            function = try FormatFunction.supported(written)
        } catch {
            throw lexer.failure(error.code, error.message, hint: error.hint, at: name.start)
        }
        let operands = try elements(closing: ")")
        do throws(LarderError) {
            call = try function.call(operands, name: written)
        } catch {
            throw lexer.failure(error.code, error.message, hint: error.hint, at: name.start)
        }
        return try made(call, at: name.start)
    }
}

extension FormatFunction {
    /// The function with a name.
    ///
    /// - Throws: `malformedPredicate` for an unknown name, `unsupported` for a function of Core
    ///   Data that Larder does not have.
    package static func supported(_ name: String) throws(LarderError) -> FormatFunction {
        guard let function = FormatFunction(name) else {
            throw LarderError(
                .malformedPredicate, "unknown function \(quoted(name))", hint: hint(for: name))
        }
        if case .unsupported(let hint) = function {
            throw LarderError(
                .unsupported, "the function \(quoted(name)) is not supported", hint: hint)
        }
        return function
    }

    /// The call of the function.
    ///
    /// - Parameter name: The function as it is written, for messages.
    /// - Throws: `malformedPredicate` for operands of the wrong number or form.
    package func call(
        _ operands: [QueryExpression], name: String
    ) throws(LarderError) -> QueryExpression {
        let name = Self.quoted(name)
        switch self {
        case .either(_, let aggregate) where operands.count == 1:
            return try Self.call(aggregate, operands, name)
        case .scalar(let function), .either(let function, _):
            guard function.operandCount.contains(operands.count) else {
                throw Self.wrongCount(function.operandCount.operands, operands, name)
            }
            if function == .conditional, !operands[0].isPredicate {
                throw LarderError(
                    .malformedPredicate, "the first operand of \(name) must be a predicate")
            }
            return .function(function, operands)
        case .aggregate(let aggregate): return try Self.call(aggregate, operands, name)
        case .unsupported(let hint):
            throw LarderError(.unsupported, "the function \(name) is not supported", hint: hint)
        }
    }

    private static func call(
        _ function: AggregateFunction, _ operands: [QueryExpression], _ name: String
    ) throws(LarderError) -> QueryExpression {
        guard operands.count == 1 else { throw wrongCount("1 operand", operands, name) }
        guard operands[0].isPath else {
            throw LarderError(
                .malformedPredicate, "\(name) takes a key path to many values, or a SUBQUERY")
        }
        return .collection(function, operands[0])
    }

    private static func wrongCount(
        _ taken: String, _ operands: [QueryExpression], _ name: String
    ) -> LarderError {
        let verb = operands.count == 1 ? "was" : "were"
        return LarderError(
            .malformedPredicate, "\(name) takes \(taken); \(operands.count) \(verb) given")
    }

    private static func quoted(_ name: String) -> String {
        "`\(name.prefix(Limits.nameBytesMax))`"
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
