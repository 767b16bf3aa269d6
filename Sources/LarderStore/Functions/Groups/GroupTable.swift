/// Groups of rows and what is computed over each, found by hashing their keys.
///
/// A value, so that a step is one access to what its aggregate holds.
struct GroupTable {
    private let keyCount: Int
    private var keys: GroupKeys
    private var columns: [GroupColumn]
    private(set) var count = 0
    /// Whether there are more groups than are kept; the table means nothing then.
    private(set) var isFull = false

    init(keyCount: Int = 0, _ columns: [GroupColumn] = []) {
        self.keyCount = keyCount
        keys = GroupKeys(count: keyCount)
        self.columns = columns
    }

    /// - Parameter arguments: the form, the keys, the values.
    mutating func add(_ arguments: FunctionArguments) {
        if isFull { return }
        let group = keys.number(of: arguments, first: 1)
        if group == count { append() }
        for column in columns.indices { columns[column].add(arguments, to: group) }
    }

    /// A key, or behind the keys what was computed.
    func value(of group: Int, at place: Int, _ faults: FunctionFaults) -> FunctionResult {
        guard (0..<count).contains(group), (0..<keyCount + columns.count).contains(place) else {
            return .error("there is no such group")
        }
        return place < keyCount
            ? keys.value(of: group, at: place)
            : columns[place - keyCount].result(of: group, faults)
    }

    private mutating func append() {
        count += 1
        for column in columns.indices { columns[column].append() }
        isFull = count > GroupFunctions.groupsMax || keys.byteCount > GroupFunctions.keptBytesMax
    }
}
