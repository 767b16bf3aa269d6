import FoundationEssentials
import LarderModel

/// What SQLite cannot do with decimals, which it stores as text: exact arithmetic.
enum DecimalFunctions {
    /// Their order, which every connection of a store has: see `StoreConnection`.
    static let collation = "decimal"
    static let sum = "larder_decimal_sum"
    static let average = "larder_decimal_average"
    static let median = "larder_decimal_median"

    static func register(
        on connection: Connection, _ faults: FunctionFaults
    ) throws(SQLiteError) {
        try connection.registerAggregate(name: sum, argumentCount: 1) {
            DecimalSum(faults, isAverage: false)
        }
        try connection.registerAggregate(name: average, argumentCount: 1) {
            DecimalSum(faults, isAverage: true)
        }
        try connection.registerAggregate(name: median, argumentCount: 1) {
            DecimalMedian(faults)
        }
    }

    /// The decimal that is stored; nil for nil, and for a text that a damaged file may hold.
    fileprivate static func decimal(_ argument: FunctionArgument) -> Decimal? {
        argument.isNull ? nil : Decimal(exactly: argument.string)
    }

    fileprivate static func result(_ decimal: Decimal) -> FunctionResult {
        DecimalText.canonical(decimal).map { .text($0) } ?? .null
    }

    /// The sum if a decimal can hold every digit of it.
    fileprivate static func exactSum(_ left: Decimal, _ right: Decimal) -> Decimal? {
        let sum = left + right
        return !sum.isNaN && sum - left == right && sum - right == left ? sum : nil
    }
}

/// The sum, 0 over none, or the average, nil over none.
private final class DecimalSum: Aggregation {
    private let faults: FunctionFaults
    private let isAverage: Bool
    private var sum: Decimal? = 0
    private var count: Int64 = 0

    init(_ faults: FunctionFaults, isAverage: Bool) {
        self.faults = faults
        self.isAverage = isAverage
    }

    func step(_ arguments: FunctionArguments) {
        guard let decimal = DecimalFunctions.decimal(arguments[0]) else { return }
        count += 1
        sum = sum.flatMap { DecimalFunctions.exactSum($0, decimal) }
    }

    func finish() -> FunctionResult {
        guard let sum else {
            return faults.report(
                LarderError(.arithmeticOverflow, "a sum has more digits than a decimal can hold"))
        }
        guard isAverage else { return DecimalFunctions.result(sum) }
        return count == 0 ? .null : DecimalFunctions.result(sum / Decimal(count))
    }
}

/// The middle value, or the mean of the middle two.
private final class DecimalMedian: Aggregation {
    private let faults: FunctionFaults
    private var values: [Decimal] = []

    init(_ faults: FunctionFaults) { self.faults = faults }

    func step(_ arguments: FunctionArguments) {
        guard values.count <= StatisticFunctions.medianValuesMax,
            let decimal = DecimalFunctions.decimal(arguments[0])
        else { return }
        values.append(decimal)
    }

    func finish() -> FunctionResult {
        guard values.count <= StatisticFunctions.medianValuesMax else {
            return faults.report(StatisticFunctions.tooManyValues)
        }
        values.sort()
        let middle = values.count / 2
        if values.isEmpty { return .null }
        if values.count % 2 == 1 { return DecimalFunctions.result(values[middle]) }
        guard let sum = DecimalFunctions.exactSum(values[middle - 1], values[middle]) else {
            return faults.report(
                LarderError(.arithmeticOverflow, "a sum has more digits than a decimal can hold"))
        }
        return DecimalFunctions.result(sum / 2)
    }
}
