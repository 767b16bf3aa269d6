import FoundationEssentials
import LarderModel
import LarderQuery
import LarderSQL

extension DecimalFunctions {
    static func register(
        on connection: Connection, _ problems: FunctionFaults
    ) throws(SQLError) {
        let interruption = connection.limit.interruption
        try connection.registerAggregate(name: sum, argumentCount: -1) {
            DecimalTotal(problems, isAverage: false)
        }
        try connection.registerAggregate(name: average, argumentCount: -1) {
            DecimalTotal(problems, isAverage: true)
        }
        try connection.registerAggregate(name: median, argumentCount: -1) {
            Median(problems, interruption)
        }
        try connection.registerAggregate(name: stddev, argumentCount: -1) {
            DecimalPopulationDeviation()
        }
    }

    /// The stored number; nil for nil, and for a text that is no decimal, as a damaged file may
    /// have. An integer among decimals is a decimal.
    static func decimal(_ argument: FunctionArgument) -> ExactDecimal? {
        switch argument.type {
        case .null: nil
        case .integer: ExactDecimal(argument.int64)
        case .real, .text, .blob: argument.withSpan { ExactDecimal(storedText: $0) }
        }
    }

    /// The number if it is a short decimal.
    @inline(__always)
    static func shortDecimal(_ argument: FunctionArgument) -> ShortDecimal? {
        switch argument.type {
        case .text: argument.withSpan { ShortDecimal($0) }
        case .integer: ShortDecimal(argument.int64)
        case .null, .real, .blob: nil
        }
    }

    /// Adds a stored number to a sum, unless it is nil.
    @inline(__always)
    static func add(_ argument: FunctionArgument, to sum: inout DecimalSum) {
        switch argument.type {
        case .null: break
        case .integer: sum.add(ShortDecimal(argument.int64))
        case .real, .text, .blob: argument.withSpan { sum.add(storedText: $0) }
        }
    }

    /// 0 for no values.
    static func sum(_ sum: DecimalSum, _ problems: FunctionFaults) -> FunctionResult {
        sum.value.map { result($0) } ?? problems.report(tooManyDigits)
    }

    /// Nil for no values.
    static func average(_ sum: DecimalSum, _ problems: FunctionFaults) -> FunctionResult {
        if sum.count == 0 { return .null }
        return sum.average.map { result($0) } ?? problems.report(tooManyDigits)
    }

    fileprivate static func result(_ decimal: Decimal) -> FunctionResult {
        DecimalText.canonical(decimal).map { .text($0) } ?? .null
    }

    fileprivate static var tooManyDigits: LarderError {
        LarderError(.arithmeticOverflow, "a sum has more digits than a decimal can hold")
    }
}

/// The numbers of an aggregate: one argument, or a form with its arguments.
private struct AggregatedNumbers {
    private var form: DecimalForm?

    mutating func number(_ arguments: FunctionArguments) -> ExactDecimal? {
        if arguments.count == 1 { return DecimalFunctions.decimal(arguments[0]) }
        return form(arguments).number(arguments)
    }

    /// The number if it is a short decimal.
    mutating func shortNumber(_ arguments: FunctionArguments) -> ShortDecimal? {
        if arguments.count == 1 { return DecimalFunctions.shortDecimal(arguments[0]) }
        return form(arguments).shortNumber(arguments)
    }

    private mutating func form(_ arguments: FunctionArguments) -> DecimalForm {
        if let form { return form }
        let form = DecimalForm(arguments)
        self.form = form
        return form
    }
}

/// The sum, which is 0 for no values, or the average, which is nil for no values.
private final class DecimalTotal: Aggregation {
    private let problems: FunctionFaults
    private let isAverage: Bool
    private var numbers = AggregatedNumbers()
    private var sum = DecimalSum()

    init(_ problems: FunctionFaults, isAverage: Bool) {
        self.problems = problems
        self.isAverage = isAverage
    }

    func step(_ arguments: FunctionArguments) {
        if arguments.count == 1 {
            DecimalFunctions.add(arguments[0], to: &sum)
        } else if let number = numbers.shortNumber(arguments) {
            sum.add(number)
        } else if let number = numbers.number(arguments) {
            sum.add(number)
        }
    }

    func finish() -> FunctionResult {
        isAverage
            ? DecimalFunctions.average(sum, problems) : DecimalFunctions.sum(sum, problems)
    }
}

/// The middle value, or the mean of the two middle values.
private final class Median: Aggregation {
    private let problems: FunctionFaults
    private let interruption: Interruption
    private var numbers = AggregatedNumbers()
    private var median = DecimalMedian()

    init(_ problems: FunctionFaults, _ interruption: Interruption) {
        self.problems = problems
        self.interruption = interruption
    }

    func step(_ arguments: FunctionArguments) {
        guard median.count <= StatisticFunctions.medianValuesMax,
            let number = numbers.number(arguments)
        else { return }
        median.add(number)
    }

    func finish() -> FunctionResult {
        guard median.count <= StatisticFunctions.medianValuesMax else {
            return problems.report(StatisticFunctions.tooManyValues("median"))
        }
        guard let value = median.value(interruption) else {
            return median.count == 0 ? .null : problems.report(DecimalFunctions.tooManyDigits)
        }
        return DecimalFunctions.result(value)
    }
}

private final class DecimalPopulationDeviation: Aggregation {
    private var numbers = AggregatedNumbers()
    private var deviation = DecimalDeviation()

    func step(_ arguments: FunctionArguments) {
        if let number = numbers.number(arguments) { deviation.add(number) }
    }

    func finish() -> FunctionResult { deviation.value.map { .real($0) } ?? .null }
}
