import LarderModel
import LarderQuery
import LarderSQL

extension SearchFunctions {
    static func register(
        on connection: Connection, _ problems: FunctionFaults
    ) throws(SQLError) {
        let interruption = connection.limit.interruption
        try register(.search, on: connection, problems) { arguments, search in
            guard let search else { return .integer(0) }
            read(arguments, search, interruption)
            return .integer(search.holds ? 1 : 0)
        }
        try register(.score, on: connection, problems) { arguments, search in
            guard let search else { return .real(0) }
            read(arguments, search, interruption)
            return .real(search.score)
        }
        try registerScores(on: connection)
        // The connection calls its functions from within a statement, which retains it.
        try connection.registerScalar(name: selectiveTerms, argumentCount: 2) {
            [unowned connection] in
            $0[1].isNull ? .null : .text(selected($0[1].string, $0[0].string, connection))
        }
        for function in [ScalarFunction.highlight, .snippet] {
            try register(function, on: connection, problems) {
                arguments, search throws(LarderError) in
                guard let search else { return .null }
                var operands: [Value] = []
                for index in 0..<arguments.count { operands.append(value(arguments[index])) }
                return ScalarFunctions.result(try function.marked(operands, search, interruption))
            }
        }
    }

    private static func registerScores(on connection: Connection) throws(SQLError) {
        var counts = TermCounts()
        try connection.registerMatch(name: matchScore) { match, arguments in
            guard arguments.count == 2 else {
                return .error("\(matchScore) needs the terms and the sizes")
            }
            counts.read(match, UInt64(bitPattern: arguments[0].int64))
            return arguments[1].withSpan { .real(counts.score(sizes: $0)) }
        }
        try connection.registerMatch(name: pageScore) { match, arguments in
            guard arguments.count > 1,
                let scores = match.state({
                    PageScores(
                        rowCount: arguments[1].int64,
                        requiredTerms: UInt64(bitPattern: arguments[0].int64))
                })
            else { return .error("\(pageScore) needs the terms and the number of rows") }
            guard arguments.count > 2 else {
                return .integer(scores.mayInclude(match) ? 1 : 0)
            }
            return arguments[2].withSpan { .real(scores.add(match, sizes: $0)) }
        }
    }

    private static func selected(
        _ query: String, _ index: String, _ connection: Connection
    ) -> String {
        let terms = TrigramQuery.terms(of: query)
        guard terms.count > 1 else { return query }
        do throws(SQLError) {
            let selection = try TermSelection(connection, index: index)
            return TrigramQuery.text(of: try selection.selected(of: terms))
        } catch {
            // All terms are right, too. A read that has been stopped ends in any case.
            return query
        }
    }

    /// - Parameter body: Gets the search, which is prepared once per run of the statement; nil for
    ///   a search text that is nil.
    private static func register(
        _ function: ScalarFunction, on connection: Connection, _ problems: FunctionFaults,
        _ body: @escaping (FunctionArguments, WordSearch?) throws(LarderError) -> FunctionResult
    ) throws(SQLError) {
        guard let name = name(of: function) else { preconditionFailure("no function of searches") }
        try connection.registerScalar(name: name, argumentCount: -1) { arguments in
            let indices = 0..<arguments.count
            guard
                let index = indices.first(where: {
                    function.isSearchText(at: $0, of: arguments.count)
                })
            else { return .null }
            do throws(LarderError) {
                if arguments[index].isNull { return try body(arguments, nil) }
                let search = try arguments.prepared(at: index) { () throws(LarderError) in
                    WordSearch(try SearchText(arguments[index].string))
                }
                return try body(arguments, search)
            } catch {
                return problems.report(error)
            }
        }
    }

    private static func read(
        _ arguments: FunctionArguments, _ search: WordSearch, _ interruption: Interruption
    ) {
        search.begin()
        for index in 0..<arguments.count - 1 where !arguments[index].isNull {
            arguments[index].withSpan { search.read($0, interruption) }
        }
    }

    private static func value(_ argument: FunctionArgument) -> Value {
        switch argument.type {
        case .null, .blob: .null
        case .integer: .int(argument.int64)
        case .real: .double(argument.double)
        case .text: .string(argument.string)
        }
    }
}
