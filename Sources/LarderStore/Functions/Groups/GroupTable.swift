/// Groups of rows and what is computed over each, found by hashing their keys.
///
/// A value, so that a step is one access to what its aggregate holds.
struct GroupTable {
    private let keyCount: Int
    /// The place of the first key among the arguments.
    private let firstKey: Int
    private var keys: GroupKeys
    /// How many rows each group has.
    private var rowCounts: [Int64] = []
    /// What else is computed.
    private var columns: [GroupColumn] = []
    /// Where each output is among them; nil for the number of rows.
    private var outputs: [Int?] = []
    /// Whether there are more groups than are kept; the table means nothing then.
    private(set) var isFull = false

    init(keyCount: Int, firstKey: Int, _ columns: [GroupColumn]) {
        self.keyCount = keyCount
        self.firstKey = firstKey
        keys = GroupKeys(count: keyCount)
        for column in columns {
            outputs.append(column.function == .rows ? nil : self.columns.count)
            if column.function != .rows { self.columns.append(column) }
        }
    }

    var count: Int { rowCounts.count }

    /// - Parameter arguments: the form if there is one, the keys, the values.
    mutating func add(_ arguments: FunctionArguments) {
        if isFull { return }
        let group = keys.number(of: arguments, first: firstKey)
        if group == rowCounts.count { append() }
        rowCounts[group] += 1
        for column in columns.indices { columns[column].add(arguments, to: group) }
    }

    /// A key, or behind the keys what was computed; nil of a group that is not there.
    func value(of group: Int, at place: Int, _ faults: FunctionFaults) -> FunctionResult {
        guard (0..<count).contains(group), (0..<keyCount + outputs.count).contains(place) else {
            return .null
        }
        if place < keyCount { return keys.value(of: group, at: place) }
        guard let column = outputs[place - keyCount] else { return .integer(rowCounts[group]) }
        return columns[column].result(of: group, faults)
    }

    private mutating func append() {
        rowCounts.append(0)
        for column in columns.indices { columns[column].append() }
        isFull = count > GroupFunctions.groupsMax || keys.byteCount > GroupFunctions.keptBytesMax
    }
}
