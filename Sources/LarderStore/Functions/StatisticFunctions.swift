import LarderModel
import LarderQuery
import LarderSQL

extension StatisticFunctions {
    /// A median stores the values of its group: 128 MiB of doubles.
    static let medianValuesMax = 16 << 20
    /// A mode stores the distinct values of its group.
    static let valueBytesMax = 128 << 20

    static func register(
        on connection: Connection, _ problems: FunctionFaults
    ) throws(SQLError) {
        let interruption = connection.limit.interruption
        try connection.registerAggregate(name: median, argumentCount: 1) {
            Median(problems, interruption)
        }
        try connection.registerAggregate(name: stddev, argumentCount: 1) {
            PopulationDeviation()
        }
    }

    static func tooManyValues(_ name: String) -> LarderError {
        LarderError(
            .resourceExhausted, "a \(name) is computed over \(medianValuesMax) values at most",
            hint: "group by more, or narrow the predicate")
    }
}

private final class Median: Aggregation {
    private let problems: FunctionFaults
    private let interruption: Interruption
    private var values: [Double] = []

    init(_ problems: FunctionFaults, _ interruption: Interruption) {
        self.problems = problems
        self.interruption = interruption
    }

    func step(_ arguments: FunctionArguments) {
        guard !arguments[0].isNull, values.count <= StatisticFunctions.medianValuesMax else {
            return
        }
        values.append(arguments[0].double)
    }

    func finish() -> FunctionResult {
        guard values.count <= StatisticFunctions.medianValuesMax else {
            return problems.report(StatisticFunctions.tooManyValues("median"))
        }
        return Statistics.median(values, interruption).map { .real($0) } ?? .null
    }
}

private final class PopulationDeviation: Aggregation {
    private var deviation = Deviation()

    func step(_ arguments: FunctionArguments) {
        let argument = arguments[0]
        switch argument.type {
        case .null: return
        case .integer: deviation.add(argument.int64)
        case .real, .text, .blob: deviation.add(argument.double)
        }
    }

    func finish() -> FunctionResult { deviation.value.map { .real($0) } ?? .null }
}
