import LarderModel
import LarderQuery

/// Exact sums and averages of 64-bit integers, from the sums of their halves. SQLite's own sum
/// fails if an intermediate sum exceeds 64 bits, and its average loses digits.
enum IntegerFunctions {
    /// `larder_sum(high, low)`: the sum, from the sums of `x >> 32` and `x & 4294967295`; 0 for no
    /// values.
    static let sum = "larder_sum"
    /// `larder_average(high, low, count)`: the average; nil for no values.
    static let average = "larder_average"

    static let sumTooLarge = LarderError(
        .arithmeticOverflow, "a sum is larger than an int64 can hold",
        hint: "sum doubles, as in `sum:wordCount * 1.0`")

    static func register(
        on connection: Connection, _ problems: FunctionFaults
    ) throws(SQLiteError) {
        try connection.registerScalar(name: sum, argumentCount: 2) { arguments in
            guard !arguments[0].isNull else { return .integer(0) }
            let sum = IntegerSum(
                highHalves: arguments[0].int64, lowHalves: arguments[1].int64, count: 1)
            guard let value = sum.value else {
                return problems.report(sumTooLarge)
            }
            return .integer(value)
        }
        try connection.registerScalar(name: average, argumentCount: 3) { arguments in
            guard !arguments[0].isNull else { return .null }
            let sum = IntegerSum(
                highHalves: arguments[0].int64, lowHalves: arguments[1].int64,
                count: arguments[2].int64)
            return sum.average.map { .real($0) } ?? .null
        }
    }
}
