/// Key paths: from the object, from a subquery or its variable, or out of an argument.
extension FormatParser {
    /// Reads what follows a base, or the first steps: further steps, and one operator such as
    /// `@sum` among or behind them. Behind a point each word is a name, also a reserved one.
    mutating func keyPath(
        from base: QueryExpression, _ first: [String] = [],
        _ firstFunction: AggregateFunction? = nil, at start: Int
    ) throws(LarderError) -> QueryExpression {
        var steps = first
        var function = firstFunction
        while token.kind == .symbol(".") {
            if function == .count {
                throw failure("nothing follows `@count`: it is a number")
            }
            try advance()
            if case .collectionOperator = token.kind, function == nil,
                base.isPath || !steps.isEmpty
            {
                function = try collectionOperator()
                continue
            }
            guard let step = stepName else { throw expected("the name of a property") }
            steps.append(step)
            try checkCount(of: steps)
            try advance()
        }
        if token.kind == .symbol("("), let last = steps.last {
            throw failure(
                "`\(last.prefix(Limits.nameBytesMax))` is no function here",
                hint: "a function stands in front of its operand, as in `length(title)`")
        }
        let path = steps.isEmpty ? base : try made(.keyPath(base, steps), at: start)
        guard let function else { return path }
        return try made(.collection(function, path), at: start)
    }

    private func checkCount(of steps: [String]) throws(LarderError) {
        guard steps.count <= Limits.keyPathStepsMax else {
            throw failure("a key path has up to \(Limits.keyPathStepsMax) steps")
        }
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

    /// A subquery's variable, perhaps with steps, or a value that comes with the query.
    mutating func variable(_ name: String) throws(LarderError) -> QueryExpression {
        let first = token
        try advance()
        if token.kind == .symbol("."), !variables.contains(name) {
            throw lexer.failure(
                .unsupported,
                "\(first.description) is no variable of a SUBQUERY around this, "
                    + "and a named value has no properties", at: first.start)
        }
        return try keyPath(from: try made(.variable(name), at: first.start), at: first.start)
    }

    private mutating func collectionOperator() throws(LarderError) -> AggregateFunction {
        guard case .collectionOperator(let name) = token.kind,
            let function = AggregateFunction(collectionOperator: name)
        else { throw unsupported(token.description, hint: Self.operatorHint) }
        try advance()
        return function
    }

    private static let operatorHint =
        "there are "
        + AggregateFunction.allCases.map { "@\($0.collectionOperator)" }.joined(separator: ", ")

    /// `%K`: the argument's text is a key path, names separated by points, perhaps with an operator
    /// such as `@count`; more steps may follow in the format string.
    mutating func keyPathArgument() throws(LarderError) -> QueryExpression {
        let start = token.start
        var steps: [String] = []
        var function: AggregateFunction?
        for part in try nextKeyPathArgument().split(separator: ".", omittingEmptySubsequences: false)
        {
            if Self.isStep(part), function != .count {
                steps.append(String(part))
                try checkCount(of: steps)
                continue
            }
            guard function == nil, !steps.isEmpty, part.first == "@",
                let known = AggregateFunction(collectionOperator: String(part.dropFirst()))
            else { throw failure("the argument for `%K` is no key path") }
            function = known
        }
        try advance()
        return try keyPath(from: .object, steps, function, at: start)
    }

    private static func isStep(_ text: Substring) -> Bool {
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
