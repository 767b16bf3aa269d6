import LarderSQL

// The writer's only contact with ``ChangeStamps``.
extension Writer {
    /// Records what a set of the open transaction changes.
    func recordChanges(_ changes: ObjectChanges) {
        changedSlots.insert(changes)
    }

    /// Commits the open transaction.
    ///
    /// - Parameter keys: The last key of each entity.
    func commit(_ statements: StatementCache, keys: [Int64]) throws(SQLError) {
        let reserved = try reserveKeys(keys, statements)
        try commit(statements)
        reservedKeys = reserved
    }

    /// Commits the open transaction without reserving keys.
    ///
    /// - Throws: also `fileChanged`, so that no commit is acknowledged whose file has no name.
    func commit(_ statements: StatementCache) throws(SQLError) {
        try store.checkFiles()
        if log.isArchiveOutdated { try statements.statement(Catalog.deleteArchive).run() }
        // After a rollback the slots of earlier sets are still there. Their stamps change without
        // need, and readers read these objects once more.
        try store.stamps.commit(&changedSlots) { () throws(SQLError) in
            try statements.statement(Texts.commit).run()
        }
        log.isArchiveOutdated = false
        store.archive?.committed(frame: statements.connection.logPageCount)
    }

    /// Changes all stamps, because another connection may have committed anything.
    func changeAllStamps() {
        store.stamps.changeAll()
    }
}
