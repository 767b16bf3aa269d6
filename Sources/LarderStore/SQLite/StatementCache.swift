import LarderSQL

/// The prepared statements of one connection, with the least recently used evicted first.
///
/// It is the only cache of statements. It belongs to the user of the connection rather than to the
/// connection, because statements keep their connection alive. Used on the connection's thread.
///
/// Its memory is bounded: SQLite takes some 50 bytes for each byte of a statement, and clients
/// choose the statements. One that would take a large part of the cache is prepared for each use.
final class StatementCache {
    private final class Entry {
        let statement: Statement
        let byteCount: Int
        var lastUse: UInt64

        init(_ statement: Statement, _ byteCount: Int, lastUse: UInt64) {
            self.statement = statement
            self.byteCount = byteCount
            self.lastUse = lastUse
        }
    }

    let connection: Connection
    private let capacity: Int
    private var bytesMax: Int
    private let counter: MemoryCounter?
    private var entries: [String: Entry] = [:]
    /// The memory of the entries when they were prepared.
    private(set) var byteCount = 0
    /// Entries that were used recently, by the low bits of the identity of their SQL: to hash a
    /// text takes longer than to bind a value.
    private var slots = [(identity: Int, entry: Entry?)](repeating: (0, nil), count: 64)
    private var clock: UInt64 = 0
    /// The memory of rows, unless rows are being visited.
    var spareRow: [SQLValue] = []
    private var lookCount: UInt8 = 0
    /// The time to prepare the statements that were not in the cache.
    private(set) var preparationTime = Duration.zero

    /// The part of the cache that one statement may take.
    private static let entryPart = 8

    /// - Parameter counter: Counts the memory of several caches.
    init(
        _ connection: Connection, capacity: Int = 256, bytesMax: Int = 4 << 20,
        counter: MemoryCounter? = nil
    ) {
        precondition(capacity > 0)
        self.connection = connection
        self.capacity = capacity
        self.bytesMax = bytesMax
        self.counter = counter
    }

    deinit { addBytes(-byteCount) }

    var count: Int { entries.count }

    /// The statement for a text, reset, with the bindings of its last run.
    ///
    /// If that one is running, this is another statement with the same text, outside of the cache.
    ///
    /// - Throws: also `interrupted`, from time to time, if the budget of the connection is used up.
    ///   Every long loop of a writer runs statements.
    func statement(_ sql: SQL) throws(SQLError) -> Statement {
        lookCount &+= 1
        if lookCount & 31 == 0, !connection.limit.allowsMoreStatements() {
            throw SQLError(.interrupted, "the budget is used up", sql: sql.text)
        }
        let slot = sql.identity & (slots.count - 1)
        if slots[slot].identity == sql.identity, let entry = slots[slot].entry {
            return try use(entry)
        }
        if let entry = entries[sql.text] {
            slots[slot] = (sql.identity, entry)
            return try use(entry)
        }
        guard connection.limit.allowsStatement(ofBytes: sql.text.utf8.count) else {
            throw SQLError(.interrupted, "the budget allows no long statement", sql: sql.text)
        }
        let start = ContinuousClock.now
        let statement = try Statement(sql.text, persistent: true, on: connection)
        preparationTime += .now - start
        if let entry = insert(statement) { slots[slot] = (sql.identity, entry) }
        return statement
    }

    /// Limits the memory of the statements from now on.
    func setBytesMax(_ bytes: Int) {
        bytesMax = bytes
        while byteCount > bytesMax, evict() {}
    }

    func removeAll() {
        entries.removeAll()
        addBytes(-byteCount)
        clearSlots()
    }

    private func use(_ entry: Entry) throws(SQLError) -> Statement {
        if entry.statement.isRunning {
            return try Statement(entry.statement.text, persistent: false, on: connection)
        }
        clock += 1
        entry.lastUse = clock
        entry.statement.reset()
        return entry.statement
    }

    /// - Returns: nil if the statement is too large for the cache.
    private func insert(_ statement: Statement) -> Entry? {
        let bytes = statement.memoryBytes
        guard bytes <= bytesMax / Self.entryPart else { return nil }
        while entries.count >= capacity || byteCount + bytes > bytesMax, evict() {}
        clock += 1
        let entry = Entry(statement, bytes, lastUse: clock)
        entries[statement.text] = entry
        addBytes(bytes)
        return entry
    }

    /// A search of all entries, which costs less than the preparation that caused it.
    ///
    /// - Returns: false if there is no entry.
    private func evict() -> Bool {
        guard let oldest = entries.min(by: { $0.value.lastUse < $1.value.lastUse }) else {
            return false
        }
        entries[oldest.key] = nil
        addBytes(-oldest.value.byteCount)
        clearSlots()
        return true
    }

    private func addBytes(_ bytes: Int) {
        byteCount += bytes
        counter?.add(bytes)
    }

    private func clearSlots() {
        for slot in slots.indices { slots[slot] = (0, nil) }
    }
}
