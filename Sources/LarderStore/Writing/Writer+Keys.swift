// Keys are given by the writer, and `sqlite_sequence` notes the greatest. It is a page of the log
// with each commit that raises it, so it is raised by many keys at once. SQLite itself raises it
// where a key is beyond, so no key is ever given twice. A process that is killed leaves a gap.
extension Writer {
    private static let keysAtOnce: Int64 = 100

    /// Notes more keys as given where those that are noted do not suffice.
    ///
    /// - Returns: What is noted once the transaction has been committed.
    func setAside(
        _ keys: [Int64], _ statements: StatementCache
    ) throws(SQLiteError) -> [Int64] {
        var aside = keysAside
        for (entity, key) in keys.enumerated() where key > aside[entity] {
            let (end, overflow) = key.addingReportingOverflow(Writer.keysAtOnce)
            aside[entity] = overflow ? .max : end
            try note(aside[entity], of: entity, statements)
        }
        return aside
    }

    /// Leaves no gap, if the storage is well.
    func giveBackKeys() {
        guard case .sound = health, !store.options.isReadOnly, keysAside != lastKeys,
            let statements
        else { return }
        do throws(SQLiteError) {
            try statements.statement(Texts.begin).run()
            for (entity, key) in lastKeys.enumerated() where key < keysAside[entity] {
                try note(key, of: entity, statements)
            }
            try statements.statement(Texts.commit).run()
        } catch {
            // The gap stays, and means nothing.
            rollBack()
        }
    }

    private func note(
        _ key: Int64, of entity: Int, _ statements: StatementCache
    ) throws(SQLiteError) {
        let table = store.layout.table(for: schema.entities[entity].entity)
        try statements.statement(Texts.noteKeys).run([.text(table), .integer(key)])
    }
}
