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

    /// - Parameter place: that of its values among the arguments.
    func column(ofValuesAt place: Int) -> any GroupColumn {
        switch self {
        case .rows: RowCounts()
        case .count: ValueCounts(place)
        case .sum: IntegerSums(place, isAverage: false)
        case .average: IntegerSums(place, isAverage: true)
        case .minimum: Extremes(place, isMaximum: false)
        case .maximum: Extremes(place, isMaximum: true)
        }
    }
}

/// One computed value for each group.
protocol GroupColumn: AnyObject {
    /// Another group.
    func append()
    /// Another row of a group.
    func add(_ arguments: FunctionArguments, to group: Int)
    func result(of group: Int, _ faults: FunctionFaults) -> FunctionResult
}

private final class RowCounts: GroupColumn {
    private var counts: [Int64] = []

    func append() { counts.append(0) }

    func add(_ arguments: FunctionArguments, to group: Int) { counts[group] += 1 }

    func result(of group: Int, _ faults: FunctionFaults) -> FunctionResult {
        .integer(counts[group])
    }
}

private final class ValueCounts: GroupColumn {
    private let place: Int
    private var counts: [Int64] = []

    init(_ place: Int) { self.place = place }

    func append() { counts.append(0) }

    func add(_ arguments: FunctionArguments, to group: Int) {
        if !arguments[place].isNull { counts[group] += 1 }
    }

    func result(of group: Int, _ faults: FunctionFaults) -> FunctionResult {
        .integer(counts[group])
    }
}

private final class IntegerSums: GroupColumn {
    private let place: Int
    private let isAverage: Bool
    private var sums: [IntegerSum] = []

    init(_ place: Int, isAverage: Bool) {
        self.place = place
        self.isAverage = isAverage
    }

    func append() { sums.append(IntegerSum()) }

    func add(_ arguments: FunctionArguments, to group: Int) {
        if !arguments[place].isNull { sums[group].add(arguments[place].int64) }
    }

    func result(of group: Int, _ faults: FunctionFaults) -> FunctionResult {
        if isAverage { return sums[group].average.map { .real($0) } ?? .null }
        return sums[group].value.map { .integer($0) }
            ?? faults.report(IntegerFunctions.sumTooLarge)
    }
}

private final class Extremes: GroupColumn {
    private let place: Int
    private let isMaximum: Bool
    private var values: [FunctionResult] = []

    init(_ place: Int, isMaximum: Bool) {
        self.place = place
        self.isMaximum = isMaximum
    }

    func append() { values.append(.null) }

    func add(_ arguments: FunctionArguments, to group: Int) {
        let argument = arguments[place]
        switch (values[group], argument.type) {
        case (.integer(let value), .integer) where isMaximum:
            values[group] = .integer(max(value, argument.int64))
        case (.integer(let value), .integer):
            values[group] = .integer(min(value, argument.int64))
        case (.real(let value), .real) where isMaximum:
            values[group] = .real(max(value, argument.double))
        case (.real(let value), .real): values[group] = .real(min(value, argument.double))
        case (.null, .integer): values[group] = .integer(argument.int64)
        case (.null, .real): values[group] = .real(argument.double)
        // Numbers of one column are of one kind; nil is passed over.
        default: break
        }
    }

    func result(of group: Int, _ faults: FunctionFaults) -> FunctionResult { values[group] }
}
