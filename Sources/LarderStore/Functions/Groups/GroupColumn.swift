import LarderModel
import LarderQuery
import LarderSQL

/// One computed value per group, in the array that the function needs. The table counts rows
/// itself.
struct GroupColumn {
    let function: GroupFunction
    /// The index of its values among the arguments.
    private let argumentIndex: Int
    private var counts: [Int64] = []
    private var sums: [IntegerSum] = []
    private var realSums: [RealSum] = []
    private var decimalSums: [DecimalSum] = []
    private var extremes: [FunctionResult] = []

    init(_ function: GroupFunction, argumentIndex: Int) {
        self.function = function
        self.argumentIndex = argumentIndex
    }

    /// Adds a group.
    mutating func append() {
        switch function {
        case .rows: break
        case .count: counts.append(0)
        case .sum, .average: sums.append(IntegerSum())
        case .realSum, .realAverage: realSums.append(RealSum())
        case .decimalSum, .decimalAverage: decimalSums.append(DecimalSum())
        case .minimum, .maximum: extremes.append(.null)
        }
    }

    /// Adds a row to a group.
    mutating func add(_ arguments: FunctionArguments, to group: Int) {
        let argument = arguments[argumentIndex]
        if argument.isNull { return }
        switch function {
        case .rows: break
        case .count: counts[group] += 1
        case .sum, .average: sums[group].add(argument.int64)
        case .realSum, .realAverage: realSums[group].add(argument.double)
        case .decimalSum, .decimalAverage:
            DecimalFunctions.add(argument, to: &decimalSums[group])
        case .minimum:
            let isSmaller = Self.isLess(argument, extremes[group]) ?? true
            if isSmaller { extremes[group] = Self.value(argument) }
        case .maximum:
            let isSmallerOrEqual = Self.isLess(argument, extremes[group])
            if isSmallerOrEqual != true { extremes[group] = Self.value(argument) }
        }
    }

    /// Adds a group of a column with the same function to a group.
    mutating func add(_ other: GroupColumn, _ otherGroup: Int, to group: Int) {
        switch function {
        case .rows: break
        case .count: counts[group] += other.counts[otherGroup]
        case .sum, .average: sums[group].add(other.sums[otherGroup])
        case .realSum, .realAverage: realSums[group].add(other.realSums[otherGroup])
        case .decimalSum, .decimalAverage:
            decimalSums[group].add(other.decimalSums[otherGroup])
        case .minimum, .maximum:
            let extreme = other.extremes[otherGroup]
            // Without a value on both sides there is no order.
            let isTaken =
                if case .null = extremes[group] { true } else {
                    Self.isLess(extreme, extremes[group]) == (function == .minimum)
                }
            if isTaken { extremes[group] = extreme }
        }
    }

    /// The approximate size in memory of sums that have more than a few words.
    var byteCount: Int {
        realSums.count * Self.realSumBytes + decimalSums.count * Self.decimalSumBytes
    }

    /// Their digits, 69 and 37, are on the heap.
    private static let realSumBytes = 640
    private static let decimalSumBytes = 448

    func result(of group: Int, _ problems: FunctionFaults) -> FunctionResult {
        switch function {
        case .rows: .null
        case .count: .integer(counts[group])
        case .sum:
            sums[group].value.map { .integer($0) } ?? problems.report(IntegerFunctions.sumTooLarge)
        case .average: sums[group].average.map { .real($0) } ?? .null
        case .realSum: realSums[group].value.map { .real($0) } ?? .null
        case .realAverage: realSums[group].average.map { .real($0) } ?? .null
        case .decimalSum: DecimalFunctions.sum(decimalSums[group], problems)
        case .decimalAverage: DecimalFunctions.average(decimalSums[group], problems)
        case .minimum, .maximum: extremes[group]
        }
    }

    /// nil if there is no extreme yet. The numbers of one column have one type.
    private static func isLess(_ argument: FunctionArgument, _ extreme: FunctionResult) -> Bool? {
        switch extreme {
        case .integer(let integer): argument.int64 < integer
        case .real(let real): argument.double < real
        default: nil
        }
    }

    /// nil if there is no extreme of one of them.
    private static func isLess(_ left: FunctionResult, _ right: FunctionResult) -> Bool? {
        switch (left, right) {
        case (.integer(let left), .integer(let right)): left < right
        case (.real(let left), .real(let right)): left < right
        default: nil
        }
    }

    private static func value(_ argument: FunctionArgument) -> FunctionResult {
        argument.type == .integer ? .integer(argument.int64) : .real(argument.double)
    }
}
