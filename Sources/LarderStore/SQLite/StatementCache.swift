/// The compiled statements that a connection's user runs again and again, least recently used out
/// first.
///
/// It belongs to whoever owns the connection, on the same thread, and not to the connection, which
/// its statements keep alive.
final class StatementCache {
    private struct Entry {
        let statement: Statement
        var lastUse: UInt64
    }

    let connection: Connection
    private let capacity: Int
    private var entries: [String: Entry] = [:]
    private var clock: UInt64 = 0

    init(_ connection: Connection, capacity: Int = 256) {
        precondition(capacity > 0)
        self.connection = connection
        self.capacity = capacity
    }

    var count: Int { entries.count }

    /// The statement for a text, reset and without bindings. It must not be in use already.
    func statement(_ text: String) throws(SQLiteError) -> Statement {
        clock += 1
        if let index = entries.index(forKey: text) {
            entries.values[index].lastUse = clock
            let statement = entries.values[index].statement
            statement.reset()
            return statement
        }
        let statement = try connection.prepare(text, persistent: true)
        if entries.count >= capacity { evict() }
        entries[text] = Entry(statement: statement, lastUse: clock)
        return statement
    }

    func removeAll() { entries.removeAll() }

    private func evict() {
        // Rare: it happens when a text is compiled, which costs more than this look around.
        guard let oldest = entries.min(by: { $0.value.lastUse < $1.value.lastUse }) else { return }
        entries[oldest.key] = nil
    }
}
