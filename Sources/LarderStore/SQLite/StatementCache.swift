/// The prepared statements of one connection, with the least recently used evicted first.
///
/// It is the only cache of statements. It belongs to the user of the connection rather than to the
/// connection, because statements keep their connection alive. Used on the connection's thread.
final class StatementCache {
    private final class Entry {
        let statement: Statement
        var lastUse: UInt64

        init(_ statement: Statement, lastUse: UInt64) {
            self.statement = statement
            self.lastUse = lastUse
        }
    }

    let connection: Connection
    private let capacity: Int
    private var entries: [String: Entry] = [:]
    /// Entries that were used recently, by the low bits of the identity of their SQL: to hash a
    /// text takes longer than to bind a value.
    private var slots = [(identity: Int, entry: Entry?)](repeating: (0, nil), count: 64)
    private var clock: UInt64 = 0
    private var lookCount: UInt8 = 0

    init(_ connection: Connection, capacity: Int = 256) {
        precondition(capacity > 0)
        self.connection = connection
        self.capacity = capacity
    }

    var count: Int { entries.count }

    /// The statement for a text, reset, with the bindings of its last run.
    ///
    /// If that one is running, this is another statement with the same text, outside of the cache.
    ///
    /// - Throws: also `interrupted`, from time to time, if the budget of the connection is used up.
    ///   Every long loop of a writer runs statements.
    func statement(_ sql: SQL) throws(SQLiteError) -> Statement {
        lookCount &+= 1
        if lookCount & 31 == 0, !connection.limit.allowsMoreStatements() {
            throw SQLiteError(.interrupted, "the budget is used up", sql: sql.text)
        }
        let slot = sql.identity & (slots.count - 1)
        if slots[slot].identity == sql.identity, let entry = slots[slot].entry {
            return try use(entry)
        }
        let entry = try entry(sql.text)
        slots[slot] = (sql.identity, entry)
        return try use(entry)
    }

    func removeAll() {
        entries.removeAll()
        clearSlots()
    }

    private func use(_ entry: Entry) throws(SQLiteError) -> Statement {
        if entry.statement.isRunning {
            return try Statement(entry.statement.text, persistent: false, on: connection)
        }
        clock += 1
        entry.lastUse = clock
        entry.statement.reset()
        return entry.statement
    }

    private func entry(_ text: String) throws(SQLiteError) -> Entry {
        if let entry = entries[text] { return entry }
        let statement = try Statement(text, persistent: true, on: connection)
        if entries.count >= capacity { evict() }
        let entry = Entry(statement, lastUse: clock)
        entries[text] = entry
        return entry
    }

    /// A search of all entries, which costs less than the preparation that caused it.
    private func evict() {
        guard let oldest = entries.min(by: { $0.value.lastUse < $1.value.lastUse }) else { return }
        entries[oldest.key] = nil
        clearSlots()
    }

    private func clearSlots() {
        for slot in slots.indices { slots[slot] = (0, nil) }
    }
}
