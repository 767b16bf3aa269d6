import LarderModel

/// What is computed over each group, for one output column.
enum GroupFunction: String, Hashable, Sendable {
    /// How many rows; takes no argument.
    case rows
    /// How many values that are not nil, as all below.
    case count
    /// Of integers, exactly.
    case sum
    case average
    /// Of numbers.
    case minimum
    case maximum
}

/// One computed value for each group: of its arrays the one that the function needs. The table
/// counts rows itself.
struct GroupColumn {
    let function: GroupFunction
    /// That of its values among the arguments.
    private let place: Int
    private var counts: [Int64] = []
    private var sums: [IntegerSum] = []
    private var extremes: [FunctionResult] = []

    init(_ function: GroupFunction, ofValuesAt place: Int) {
        self.function = function
        self.place = place
    }

    /// Another group.
    mutating func append() {
        switch function {
        case .rows: break
        case .count: counts.append(0)
        case .sum, .average: sums.append(IntegerSum())
        case .minimum, .maximum: extremes.append(.null)
        }
    }

    /// Another row of a group.
    mutating func add(_ arguments: FunctionArguments, to group: Int) {
        let argument = arguments[place]
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

    func result(of group: Int, _ faults: FunctionFaults) -> FunctionResult {
        switch function {
        case .rows: .null
        case .count: .integer(counts[group])
        case .sum:
            sums[group].value.map { .integer($0) } ?? faults.report(IntegerFunctions.sumTooLarge)
        case .average: sums[group].average.map { .real($0) } ?? .null
        case .minimum, .maximum: extremes[group]
        }
    }

    /// nil beside none. Numbers of one column are of one kind.
    private static func isLess(_ argument: FunctionArgument, _ extreme: FunctionResult) -> Bool? {
        switch extreme {
        case .integer(let integer): argument.int64 < integer
        case .real(let real): argument.double < real
        case .null, .text, .blob, .error: nil
        }
    }

    private static func value(_ argument: FunctionArgument) -> FunctionResult {
        argument.type == .integer ? .integer(argument.int64) : .real(argument.double)
    }
}
