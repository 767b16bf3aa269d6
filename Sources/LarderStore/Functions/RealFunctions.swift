import LarderModel
import LarderQuery

/// Exactly rounded sums of doubles. SQLite rounds after each addition, so its result depends on the
/// order of the rows.
enum RealFunctions {
    /// 0 for no values.
    static let sum = "larder_real_sum"
    /// Nil for no values.
    static let average = "larder_real_average"

    static func register(on connection: Connection) throws(SQLiteError) {
        try connection.registerAggregate(name: sum, argumentCount: 1) {
            RealTotal(isAverage: false)
        }
        try connection.registerAggregate(name: average, argumentCount: 1) {
            RealTotal(isAverage: true)
        }
    }
}

private final class RealTotal: Aggregation {
    private let isAverage: Bool
    private var sum = RealSum()

    init(isAverage: Bool) { self.isAverage = isAverage }

    func step(_ arguments: FunctionArguments) {
        if !arguments[0].isNull { sum.add(arguments[0].double) }
    }

    func finish() -> FunctionResult {
        (isAverage ? sum.average : sum.value).map { .real($0) } ?? .null
    }
}
