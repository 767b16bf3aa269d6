/// The statements that a connection has prepared, by their shape.
///
/// It does no I/O: it says what to send before a statement is run. A statement stays prepared after
/// a rollback. Of more shapes than its capacity, the one that was not used for the longest time is
/// released.
struct PreparedNames {
    struct Shape: Hashable {
        var text: String
        var types: [PostgresType]
    }

    enum Step: Equatable {
        /// Releases a statement of the server.
        case release(name: String)
        case prepare
    }

    private struct Entry {
        var name: String
        var lastUse: Int
    }

    private let capacity: Int
    private var entries: [Shape: Entry] = [:]
    /// Names that the server still has and that are used no more.
    private var unused: [String] = []
    private var useCount = 0
    private var nameCount = 0

    init(capacity: Int) {
        self.capacity = max(1, capacity)
    }

    var count: Int { entries.count }

    /// The name of the prepared statement, and what to send before it is run.
    ///
    /// - Parameter releases: Whether statements may be released, which a failed transaction does
    ///   not permit.
    mutating func use(_ shape: Shape, releases: Bool = true) -> (name: String, steps: [Step]) {
        useCount += 1
        if let name = entries[shape]?.name {
            entries[shape]?.lastUse = useCount
            return (name, [])
        }
        if entries.count >= capacity,
            let oldest = entries.min(by: { $0.value.lastUse < $1.value.lastUse })
        {
            unused.append(oldest.value.name)
            entries[oldest.key] = nil
        }
        nameCount += 1
        let name = "larder_\(nameCount)"
        entries[shape] = Entry(name: name, lastUse: useCount)
        guard releases else { return (name, [.prepare]) }
        defer { unused.removeAll() }
        return (name, unused.map { .release(name: $0) } + [.prepare])
    }

    /// The statement was not prepared.
    mutating func remove(_ shape: Shape) { entries[shape] = nil }

    /// The statement must be prepared again, because what it refers to has changed.
    mutating func renew(_ shape: Shape) {
        if let entry = entries.removeValue(forKey: shape) { unused.append(entry.name) }
    }

    /// The statement was not released.
    mutating func keepUnused(_ name: String) { unused.append(name) }
}
