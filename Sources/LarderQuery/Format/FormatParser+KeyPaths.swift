import LarderModel

/// Key paths that begin at the object, a subquery, its variable, or an argument.
extension FormatParser {
    /// Reads the steps after a base and its first steps, with at most one collection operator such
    /// as `@sum` between or after them. Each word after a period is a name, even a reserved one.
    mutating func keyPath(
        from base: QueryExpression, _ first: [String] = [],
        _ firstFunction: AggregateFunction? = nil, at start: Int
    ) throws(LarderError) -> QueryExpression {
        var steps = first
        var starts = first.map { _ in start }
        var function = firstFunction
        while token.kind == .symbol(".") {
            if function == .count {
                throw failure("`@count` is a number; a key path cannot continue after it")
            }
            try advanceToStep()
            if case .collectionOperator = token.kind, function == nil,
                base.isPath || !steps.isEmpty
            {
                function = try collectionOperator()
                continue
            }
            guard let step = stepName else { throw expected("the name of a property") }
            steps.append(step)
            starts.append(token.start)
            try checkCount(of: steps)
            try advance()
        }
        if token.kind == .symbol("("), let last = steps.last {
            throw failure(
                "`\(last.prefix(Limits.nameBytesMax))` cannot be called here",
                hint: "write a function before its operand, as in `length(title)`")
        }
        let path =
            steps.isEmpty ? base : try made(.keyPath(base, steps), at: start, steps: starts)
        guard let function else { return path }
        return try made(.collection(function, path), at: start)
    }

    private func checkCount(of steps: [String]) throws(LarderError) {
        guard steps.count <= Limits.keyPathStepsMax else {
            throw failure("a key path has at most \(Limits.keyPathStepsMax) steps")
        }
    }

    /// The current token as a step of a key path; nil if it is not a word.
    private var stepName: String? {
        switch token.kind {
        case .name(let name, _): name
        case .and, .or, .not: lexer.word(of: token)
        case .comparison: lexer.word(of: token)
        default: nil
        }
    }

    /// Reads a variable of a subquery, possibly with steps, or a named value of the query.
    mutating func variable(_ name: String) throws(LarderError) -> QueryExpression {
        let first = token
        try advance()
        if token.kind == .symbol("."), !isPart, !variables.contains(name) {
            throw lexer.failure(
                .unsupported,
                "\(first.description) is not declared by an enclosing SUBQUERY, "
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
        "valid collection operators are "
        + AggregateFunction.allCases.map { "@\($0.collectionOperator)" }.joined(separator: ", ")

    /// Reads `%K`: the text of the argument is a key path, possibly with a collection operator such
    /// as `@count`. The format string may continue it.
    mutating func keyPathArgument() throws(LarderError) -> QueryExpression {
        let start = token.start
        var steps: [String] = []
        var function: AggregateFunction?
        let text = try nextKeyPathArgument()
        for part in text.split(separator: ".", omittingEmptySubsequences: false) {
            if Self.isStep(part), function != .count {
                steps.append(String(part))
                try checkCount(of: steps)
                continue
            }
            guard function == nil, !steps.isEmpty, part.first == "@",
                let known = AggregateFunction(collectionOperator: String(part.dropFirst()))
            else { throw failure("the argument of `%K` is not a key path") }
            function = known
        }
        try advance()
        return try keyPath(from: .object, steps, function, at: start)
    }

    private static func isStep(_ text: Substring) -> Bool {
        guard let first = text.utf8.first else { return false }
        guard FormatLexer.isNameStart(first) else { return text.utf8.allSatisfy(\.isASCIIDigit) }
        return text.utf8.allSatisfy {
            FormatLexer.isNameStart($0) || $0.isASCIIDigit || $0 == UInt8(ascii: ":")
        }
    }
}

extension FormatLexer {
    /// The word that was read as an operator; nil if the token is not a word.
    func word(of token: FormatToken) -> String? {
        let word = bytes[token.start...].prefix { Self.isNameStart($0) || $0.isASCIIDigit }
        return word.isEmpty ? nil : String(decoding: word, as: UTF8.self)
    }
}
