import LarderModel

/// Aggregates over numbers that SQLite does not have.
enum StatisticFunctions {
    /// The middle value, or the mean of the middle two; nil over none.
    static let median = "larder_median"
    /// The standard deviation of a population, as Core Data's `stddev:`; nil over none.
    static let stddev = "larder_stddev"

    /// A median has to keep the values of its group: 128 MiB of doubles.
    static let medianValuesMax = 16 << 20

    static func register(
        on connection: Connection, _ faults: FunctionFaults
    ) throws(SQLiteError) {
        try connection.registerAggregate(name: median, argumentCount: 1) { Median(faults) }
        try connection.registerAggregate(name: stddev, argumentCount: 1) { Deviation() }
    }

    static var tooManyValues: LarderError {
        LarderError(
            .resourceExhausted, "a median is computed over \(medianValuesMax) values at most",
            hint: "group by more, or narrow the predicate")
    }
}

private final class Median: Aggregation {
    private let faults: FunctionFaults
    private var values: [Double] = []

    init(_ faults: FunctionFaults) { self.faults = faults }

    func step(_ arguments: FunctionArguments) {
        guard !arguments[0].isNull, values.count <= StatisticFunctions.medianValuesMax else {
            return
        }
        values.append(arguments[0].double)
    }

    func finish() -> FunctionResult {
        guard values.count <= StatisticFunctions.medianValuesMax else {
            return faults.report(StatisticFunctions.tooManyValues)
        }
        values.sort()
        let middle = values.count / 2
        if values.isEmpty { return .null }
        if values.count % 2 == 1 { return .real(values[middle]) }
        let (low, high) = (values[middle - 1], values[middle])
        let mean = (low + high) / 2
        // The sum of two large values may leave the range that their mean is in.
        return .real(mean.isFinite ? mean : low / 2 + high / 2)
    }
}

/// Welford's method: one pass, without the loss of a difference of large sums.
private final class Deviation: Aggregation {
    private var count = 0.0
    private var mean = 0.0
    private var squares = 0.0

    func step(_ arguments: FunctionArguments) {
        guard !arguments[0].isNull else { return }
        let value = arguments[0].double
        count += 1
        let distance = value - mean
        mean += distance / count
        squares += distance * (value - mean)
    }

    func finish() -> FunctionResult {
        count == 0 ? .null : .real((squares / count).squareRoot())
    }
}
