import LarderModel

// Saves that had an idempotency key are answered once more, and not done once more.
extension Writer {
    /// Each keyed save adds an outcome and deletes up to so many that have had their time.
    private static let forgottenAtOnce: Int64 = 4

    /// What a set came to when it was saved under its key before; nil if it is to be done. Within a
    /// group it sees the sets before it.
    func rememberedOutcome(
        of set: ReceivedChangeSet, _ statements: StatementCache
    ) throws(SQLiteError) -> Result<SaveResult, LarderError>? {
        let key = set.changeSet.idempotencyKey
        guard !key.isEmpty else { return nil }
        guard key.utf8.count <= Limits.idempotencyKeyBytesMax else {
            return .failure(
                LarderError(
                    .resourceExhausted,
                    "an idempotency key takes at most \(Limits.idempotencyKeyBytesMax) bytes"))
        }
        let statement = try statements.statement(Layout.findOutcome)
        defer { statement.reset() }
        try statement.bind(.text(key), at: 1)
        guard try statement.step() else { return nil }
        guard statement.int64(at: 0) == Int64(bitPattern: set.digest) else {
            return .failure(
                LarderError(
                    .idempotencyMismatch,
                    "other changes have been saved under the idempotency key of this set",
                    hint: "a repetition is the same set; another set takes a key of its own"))
        }
        let stored = StoredOutcome(
            transaction: statement.isNull(at: 1) ? nil : statement.int64(at: 1),
            inserted: statement.string(at: 2), versions: statement.string(at: 3),
            deleted: statement.int64(at: 4), merged: statement.string(at: 5),
            affected: statement.string(at: 6))
        guard let result = stored.result(store: store.storeDescription.identifier) else {
            return .failure(
                LarderError(
                    .storageFailed, "the store file is damaged (an outcome cannot be read)",
                    hint: "look for the objects before repeating the save under another key"))
        }
        return .success(result)
    }

    /// Keeps what a set with a key came to, in the same savepoint.
    func remember(
        _ result: SaveResult, of set: ReceivedChangeSet, time: Double,
        _ statements: StatementCache
    ) throws(SQLiteError) {
        let key = set.changeSet.idempotencyKey
        guard !key.isEmpty else { return }
        let stored = StoredOutcome(result)
        try statements.statement(Layout.insertOutcome).run([
            .text(key), .integer(Int64(bitPattern: set.digest)), .real(time),
            stored.transaction.map { .integer($0) } ?? .null, .text(stored.inserted),
            .text(stored.versions), .integer(stored.deleted), .text(stored.merged),
            .text(stored.affected),
        ])
        let newest = statements.connection.lastInsertedRowID
        try statements.statement(Layout.forgetOutcomes).run([
            .integer(newest - Limits.outcomesMax), .real(time - Limits.outcomeSecondsMax),
            .integer(Writer.forgottenAtOnce),
        ])
    }
}
