import LarderModel
import LarderQuery
import LarderSQL

extension ModeFunctions {
    static func register(
        on connection: Connection, _ problems: FunctionFaults
    ) throws(SQLError) {
        try connection.registerAggregate(name: mode, argumentCount: 1) {
            Mode(problems, isDecimal: false)
        }
        try connection.registerAggregate(name: decimalMode, argumentCount: 1) {
            Mode(problems, isDecimal: true)
        }
    }
}

private final class Mode: Aggregation {
    private let problems: FunctionFaults
    private let isDecimal: Bool
    private var counts: [SQLValue: Int] = [:]
    private var bytesLeft = StatisticFunctions.valueBytesMax

    init(_ problems: FunctionFaults, isDecimal: Bool) {
        self.problems = problems
        self.isDecimal = isDecimal
    }

    func step(_ arguments: FunctionArguments) {
        guard bytesLeft > 0, let value = Self.value(arguments[0]) else { return }
        if counts[value] == nil { bytesLeft -= Self.byteCount(value) }
        counts[value, default: 0] += 1
    }

    func finish() -> FunctionResult {
        guard bytesLeft > 0 else {
            return problems.report(StatisticFunctions.tooManyValues("mode"))
        }
        let isDecimal = isDecimal
        let mode = Statistics.mode(counts) { Self.isLess($0, $1, isDecimal: isDecimal) }
        switch mode {
        case .integer(let integer): return .integer(integer)
        case .real(let real): return .real(real)
        case .text(let text): return .text(text)
        case .blob(let blob): return .blob(blob)
        case .null, nil: return .null
        }
    }

    private static func value(_ argument: FunctionArgument) -> SQLValue? {
        switch argument.type {
        case .null: nil
        case .integer: .integer(argument.int64)
        case .real: .real(argument.double)
        case .text: .text(argument.string)
        case .blob: .blob(argument.withBytes { Array($0) })
        }
    }

    /// The approximate size of a value in memory.
    private static func byteCount(_ value: SQLValue) -> Int {
        switch value {
        case .text(let text): 64 + text.utf8.count
        case .blob(let blob): 64 + blob.count
        case .null, .integer, .real: 64
        }
    }

    /// The values of one group have one type, or are integers and doubles.
    private static func isLess(_ left: SQLValue, _ right: SQLValue, isDecimal: Bool) -> Bool {
        switch (left, right) {
        case (.integer(let left), .integer(let right)): left < right
        case (.real(let left), .real(let right)): left < right
        case (.integer(let left), .real(let right)): Double(left) < right
        case (.real(let left), .integer(let right)): left < Double(right)
        case (.text(let left), .text(let right)):
            isDecimal
                ? DecimalText.compare(left, right) < 0
                : left.utf8.lexicographicallyPrecedes(right.utf8)
        case (.blob(let left), .blob(let right)): left.lexicographicallyPrecedes(right)
        default: false
        }
    }
}
