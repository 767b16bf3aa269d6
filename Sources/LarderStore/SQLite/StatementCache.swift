/// The compiled statements that a connection's user runs again and again, least recently used out
/// first.
///
/// It belongs to whoever owns the connection, on the same thread, and not to the connection, which
/// its statements keep alive.
final class StatementCache {
    private final class Entry {
        let statement: Statement
        /// nil for one that is known by its letters.
        let text: SQLText?
        var lastUse: UInt64

        init(_ statement: Statement, _ text: SQLText? = nil, lastUse: UInt64) {
            self.statement = statement
            self.text = text
            self.lastUse = lastUse
        }
    }

    let connection: Connection
    private let capacity: Int
    private var ofLetters: [String: Entry] = [:]
    private var ofTexts: [SQLText: Entry] = [:]
    /// Of these texts some that were used last, by a few bits of their addresses: to hash a text
    /// costs more than to bind a value.
    private var slots = [Entry?](repeating: nil, count: 64)
    private var clock: UInt64 = 0

    init(_ connection: Connection, capacity: Int = 256) {
        precondition(capacity > 0)
        self.connection = connection
        self.capacity = capacity
    }

    var count: Int { ofLetters.count + ofTexts.count }

    /// The statement for a text, reset, with the bindings of its last run. It must not be in use
    /// already.
    func statement(_ text: String) throws(SQLiteError) -> Statement {
        if let entry = ofLetters[text] { return use(entry) }
        let entry = try prepare(text)
        ofLetters[text] = entry
        return use(entry)
    }

    /// The same, without a look at the text's letters.
    func statement(_ text: SQLText) throws(SQLiteError) -> Statement {
        let slot = Int(bitPattern: ObjectIdentifier(text)) >> 5 & (slots.count - 1)
        if let entry = slots[slot], entry.text === text { return use(entry) }
        if let entry = ofTexts[text] {
            slots[slot] = entry
            return use(entry)
        }
        let entry = try prepare(text.text, text)
        ofTexts[text] = entry
        slots[slot] = entry
        return use(entry)
    }

    func removeAll() {
        ofLetters.removeAll()
        ofTexts.removeAll()
        clearSlots()
    }

    private func clearSlots() {
        for slot in slots.indices { slots[slot] = nil }
    }

    private func use(_ entry: Entry) -> Statement {
        clock += 1
        entry.lastUse = clock
        entry.statement.reset()
        return entry.statement
    }

    private func prepare(
        _ letters: String, _ text: SQLText? = nil
    ) throws(SQLiteError) -> Entry {
        let statement = try connection.prepare(letters, persistent: true)
        if count >= capacity { evict() }
        return Entry(statement, text, lastUse: clock)
    }

    private func evict() {
        // Rare: it happens when a text is compiled, which costs more than this look around.
        let letters = ofLetters.min { $0.value.lastUse < $1.value.lastUse }
        let text = ofTexts.min { $0.value.lastUse < $1.value.lastUse }
        if let letters, letters.value.lastUse <= text?.value.lastUse ?? .max {
            ofLetters[letters.key] = nil
        } else if let text {
            ofTexts[text.key] = nil
            clearSlots()
        }
    }
}
