import LarderModel
import LarderQuery
import LarderSQL

extension RealFunctions {
    static func register(on connection: Connection) throws(SQLError) {
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
