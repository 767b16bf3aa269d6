import LarderModel
import LarderQuery

/// The function of one output column over groups.
enum GroupFunction: String, Hashable, Sendable {
    /// The number of rows; it has no argument.
    case rows
    /// The number of values except nil. All functions below ignore nil too.
    case count
    /// The exact sum of integers.
    case sum
    case average
    /// For numbers.
    case minimum
    case maximum
}

/// One computed value per group, in the array that the function needs. The table counts rows
/// itself.
struct GroupColumn {
    let function: GroupFunction
    /// The index of its values among the arguments.
    private let argumentIndex: Int
    private var counts: [Int64] = []
    private var sums: [IntegerSum] = []
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
        case .minimum:
            let isSmaller = Self.isLess(argument, extremes[group]) ?? true
            if isSmaller { extremes[group] = Self.value(argument) }
        case .maximum:
            let isSmallerOrEqual = Self.isLess(argument, extremes[group])
            if isSmallerOrEqual != true { extremes[group] = Self.value(argument) }
        }
    }

    func result(of group: Int, _ problems: FunctionFaults) -> FunctionResult {
        switch function {
        case .rows: .null
        case .count: .integer(counts[group])
        case .sum:
            sums[group].value.map { .integer($0) } ?? problems.report(IntegerFunctions.sumTooLarge)
        case .average: sums[group].average.map { .real($0) } ?? .null
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

    private static func value(_ argument: FunctionArgument) -> FunctionResult {
        argument.type == .integer ? .integer(argument.int64) : .real(argument.double)
    }
}
