import FoundationEssentials
import LarderModel
import LarderQuery
import LarderSQL

extension ScalarFunctions {
    static func register(
        on connection: Connection, _ problems: FunctionFaults
    ) throws(SQLError) {
        for function in ScalarFunction.allCases {
            for domain in function.definition.domains {
                try register(function, domain, on: connection, problems)
            }
        }
        try connection.registerScalar(name: integer, argumentCount: 1) { arguments in
            arguments[0].type == .integer ? .integer(arguments[0].int64) : .null
        }
        try connection.registerScalar(name: finite, argumentCount: 1) { arguments in
            let argument = arguments[0]
            guard !argument.isNull, argument.double.isFinite else { return .null }
            return .real(argument.double)
        }
    }

    private static func register(
        _ function: ScalarFunction, _ domain: Domain, on connection: Connection,
        _ problems: FunctionFaults
    ) throws(SQLError) {
        let counts = function.operandCount
        let argumentCount = counts.count == 1 ? Int32(counts.lowerBound) : -1
        if let direct = direct(function, domain) {
            try connection.registerScalar(
                name: name(of: function, domain), argumentCount: direct.argumentCount,
                body: direct.body)
            // SQLite prefers a function with the exact number of arguments to one with any number.
            if argumentCount == direct.argumentCount { return }
        }
        let kinds = kinds(of: function, domain)
        let interruption = connection.limit.interruption
        let definition = function.definition
        try connection.registerScalar(
            name: name(of: function, domain), argumentCount: argumentCount
        ) { arguments in
            var operands: [Value] = []
            operands.reserveCapacity(arguments.count)
            for index in 0..<arguments.count {
                operands.append(value(arguments[index], kinds[min(index, kinds.count - 1)]))
            }
            do throws(LarderError) {
                return result(try definition.value(of: operands, interruption))
            } catch {
                return problems.report(error)
            }
        }
    }

    /// A function that reads its arguments from SQLite's memory, without a ``Value`` per argument;
    /// nil if there is none.
    private static func direct(
        _ function: ScalarFunction, _ domain: Domain
    ) -> (argumentCount: Int32, body: (FunctionArguments) -> FunctionResult)? {
        switch (domain, function) {
        case (.date, .year), (.date, .month), (.date, .day), (.date, .hour), (.date, .minute),
            (.date, .second), (.date, .weekday):
            return (
                1,
                { arguments in
                    if arguments[0].isNull { return .null }
                    let date = Date(timeIntervalSinceReferenceDate: arguments[0].double)
                    return function.part(of: date).map { .integer($0) } ?? .null
                }
            )
        case (.string, .length):
            return (
                1,
                { arguments in
                    if arguments[0].isNull { return .null }
                    return .integer(Int64(arguments[0].withSpan { $0.characterCount }))
                }
            )
        default: return nil
        }
    }

    /// How the arguments are read; further ones as the last.
    private static func kinds(of function: ScalarFunction, _ domain: Domain) -> [ArgumentKind] {
        if let parameters = function.parameters {
            return parameters.map { type in
                // A function of integers computes with 64 bits, but a count or an index may be any
                // number.
                domain != .int64 && type.isInteger ? .number : .domain(Domain(type) ?? domain)
            }
        }
        if case .places = function.definition.typing { return [.domain(domain), .number] }
        return [.domain(domain)]
    }

    private enum ArgumentKind {
        case domain(Domain)
        /// A number of the type that SQLite has.
        case number
    }

    private static func value(_ argument: FunctionArgument, _ kind: ArgumentKind) -> Value {
        switch kind {
        case .domain(let domain): return value(argument, domain)
        case .number:
            return switch argument.type {
            case .null: .null
            case .integer: .int(argument.int64)
            case .real: .double(argument.double)
            case .text, .blob: value(argument, .decimal)
            }
        }
    }

    private static func value(_ argument: FunctionArgument, _ domain: Domain) -> Value {
        if argument.isNull { return .null }
        switch domain {
        case .int64: return .int(argument.int64)
        case .double:
            // A decimal is a text, which SQLite does not always convert to the nearest double.
            guard argument.type == .text else { return .double(argument.double) }
            return Double(argument.string).map { .double($0) } ?? .null
        case .decimal:
            if argument.type == .integer { return .int(argument.int64) }
            return Decimal(exactly: argument.string).map { .decimal($0) } ?? .null
        case .string: return .string(argument.string)
        case .date: return .date(Date(timeIntervalSinceReferenceDate: argument.double))
        }
    }

    /// The stored form of a value; nil for objects.
    static func result(_ value: Value) -> FunctionResult {
        switch value {
        case .bool(let bool): .integer(bool ? 1 : 0)
        case .int(let integer): .integer(integer)
        case .float(let float): .real(Double(float))
        case .double(let double): .real(double)
        case .decimal(let decimal): DecimalText.canonical(decimal).map { .text($0) } ?? .null
        case .string(let string): .text(string)
        case .date(let date): .real(date.timeIntervalSinceReferenceDate)
        case .uuid(let uuid): .blob(uuid.bytes)
        case .url(let url): .text(url.absoluteString)
        case .data(let data): .blob([UInt8](data))
        case .json(let text): .text(text)
        case .null, .object, .objects: .null
        }
    }
}
