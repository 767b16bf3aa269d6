import LarderModel
import LarderQuery
import LarderSQL

extension IntegerFunctions {
    static let sumTooLarge = LarderError(
        .arithmeticOverflow, "a sum is larger than an int64 can hold",
        hint: "sum doubles, as in `sum:wordCount * 1.0`")

    static func register(
        on connection: Connection, _ problems: FunctionFaults
    ) throws(SQLError) {
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
