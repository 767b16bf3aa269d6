/// Key paths: from the object, from a subquery's variable, or out of an argument.
extension FormatParser {
    /// Reads steps up to the end of the key path. The first is the token that is looked at; behind
    /// a point each word is a name, also a reserved one.
    mutating func keyPath(from base: QueryExpression) throws(LarderError) -> QueryExpression {
        var last = token
        var steps: [String] = []
        repeat {
            if case .collectionOperator = token.kind, !steps.isEmpty {
                return .collection(try collectionOperator(), .keyPath(base, steps))
            }
            guard let step = stepName else { throw expected("the name of a property") }
            steps.append(step)
            last = token
            guard steps.count <= Limits.keyPathStepsMax else {
                throw failure("a key path has up to \(Limits.keyPathStepsMax) steps")
            }
            try advance()
        } while try skip(.symbol("."))
        if token.kind == .symbol("(") {
            throw lexer.failure(
                .unsupported, "the function \(last.description) is not supported yet",
                hint: "of the functions only SUBQUERY is", at: last.start)
        }
        return .keyPath(base, steps)
    }

    /// The word that the token is, as a step of a key path.
    private var stepName: String? {
        switch token.kind {
        case .name(let name, _): name
        case .and, .or, .not: lexer.word(of: token)
        case .comparison: lexer.word(of: token)
        default: nil
        }
    }

    mutating func variable(_ name: String) throws(LarderError) -> QueryExpression {
        guard variables.contains(name) else {
            throw failure("there is no SUBQUERY around this with the variable `$\(name)`")
        }
        try advance()
        guard try skip(.symbol(".")) else { return .variable(name) }
        return try keyPath(from: .variable(name))
    }

    mutating func collectionOperator() throws(LarderError) -> AggregateFunction {
        guard case .collectionOperator(let name) = token.kind else {
            throw expected("an operator such as `@count`")
        }
        guard let function = AggregateFunction(collectionOperator: name), function == .count else {
            throw unsupported(token.description)
        }
        try advance()
        if token.kind == .symbol(".") {
            throw failure("nothing follows `@\(name)`: it is a number")
        }
        return function
    }

    /// `%K`: the argument's text is a key path, names separated by points, perhaps with `@count`
    /// at its end; more steps may follow in the format string.
    mutating func keyPathArgument() throws(LarderError) -> QueryExpression {
        var steps = try nextKeyPathArgument()
            .split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        let counts = steps.count > 1 && steps.last == "@count"
        if counts { steps.removeLast() }
        guard steps.allSatisfy(Self.isStep) else {
            throw failure("the argument for `%K` is no key path")
        }
        guard steps.count <= Limits.keyPathStepsMax else {
            throw failure("a key path has up to \(Limits.keyPathStepsMax) steps")
        }
        try advance()
        if counts { return .collection(.count, .keyPath(.object, steps)) }
        guard try skip(.symbol(".")) else { return .keyPath(.object, steps) }
        switch try keyPath(from: .object) {
        case .keyPath(_, let more): return .keyPath(.object, steps + more)
        case .collection(let collectionOperator, .keyPath(_, let more)):
            return .collection(collectionOperator, .keyPath(.object, steps + more))
        case let other: return other
        }
    }

    private static func isStep(_ text: String) -> Bool {
        guard let first = text.utf8.first, FormatLexer.isNameStart(first) else { return false }
        return text.utf8.allSatisfy {
            FormatLexer.isNameStart($0) || FormatLexer.isDigit($0) || $0 == UInt8(ascii: ":")
        }
    }
}

extension FormatLexer {
    /// The word as it was written that became an operator's token, nil if it was no word.
    func word(of token: FormatToken) -> String? {
        let word = bytes[token.start...].prefix { Self.isNameStart($0) || Self.isDigit($0) }
        return word.isEmpty ? nil : String(decoding: word, as: UTF8.self)
    }
}
