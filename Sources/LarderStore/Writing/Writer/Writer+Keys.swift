import LarderSQL

// The writer assigns keys. `sqlite_sequence` stores the greatest key of each table, so that no key
// is used twice. A change of it adds a page to the log, so it is raised by many keys at once. If a
// process is killed, the keys that it reserved and did not use are a gap.
extension Writer {
    private static let reservedAtOnce: Int64 = 100

    /// Reserves more keys, if the reserved ones do not suffice.
    ///
    /// - Returns: The keys that are reserved once the transaction has been committed.
    func reserveKeys(
        _ keys: [Int64], _ statements: StatementCache
    ) throws(SQLError) -> [Int64] {
        var reserved = reservedKeys
        for (entity, key) in keys.enumerated() where key > reserved[entity] {
            let (end, overflow) = key.addingReportingOverflow(Writer.reservedAtOnce)
            reserved[entity] = overflow ? .max : end
            try store(reserved[entity], of: entity, statements)
        }
        return reserved
    }

    /// Releases the reserved keys that were not used, so that no gap is left.
    func releaseUnusedKeys() {
        guard case .working = storage, !store.options.isReadOnly, reservedKeys != lastKeys,
            let statements
        else { return }
        do throws(SQLError) {
            try statements.statement(Texts.begin).run()
            for (entity, key) in lastKeys.enumerated() where key < reservedKeys[entity] {
                try store(key, of: entity, statements)
            }
            try commit(statements)
        } catch {
            // The gap remains, which is harmless.
            rollBack()
        }
    }

    private func store(
        _ key: Int64, of entity: Int, _ statements: StatementCache
    ) throws(SQLError) {
        let table = store.layout.table(for: schema.entities[entity].entity)
        try statements.statement(Texts.storeKey).run([.text(table), .integer(key)])
    }
}
