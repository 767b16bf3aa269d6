import FoundationEssentials
import LarderModel
import LarderQuery
import LarderSQL

/// A save with an idempotency key is done once. Repeating it returns the first result, for a day.
///
/// Keys belong to the user who saves: nobody can take, guess or remove those of others. A user who
/// has as many as one may have saves with no further key until its oldest one is a day old. To
/// forget that one earlier would break the promise: its save might be repeated, and stored twice.
///
/// A client that will not repeat a save any more, because it has the result, releases the key with
/// a later save. So a client that makes a key for each save has one outcome at a time.
struct SavedOutcomes {
    /// Each save with a key adds an outcome, and deletes at most this many expired ones.
    private static let deletedAtOnce: Int64 = 4

    private let statements: StatementCache
    /// The store of the objects of results.
    private let store: UUID

    init(_ statements: StatementCache, store: UUID) {
        self.statements = statements
        self.store = store
    }

    /// The outcome that is stored under the key of a set; nil if the set has to be saved. Outcomes
    /// of earlier sets of the same group are found too.
    func outcome(
        of set: SaveRequest
    ) throws(SQLError) -> Result<SaveResult, LarderError>? {
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
        try statement.bind([.integer(set.keyUser), .text(key)])
        guard try statement.step() else { return nil }
        guard statement.int64(at: 0) == Int64(bitPattern: set.digest) else {
            return .failure(
                LarderError(
                    .idempotencyMismatch,
                    "other changes have been saved under the idempotency key of this set",
                    hint: "repeat exactly the same changes, or use a new key for other changes"))
        }
        let stored = StoredOutcome(
            transaction: statement.isNull(at: 1) ? nil : statement.int64(at: 1),
            inserted: statement.string(at: 2), versions: statement.string(at: 3),
            deleted: statement.int64(at: 4), merged: statement.string(at: 5),
            affected: statement.string(at: 6))
        guard let result = stored.result(store: store) else {
            return .failure(
                LarderError(
                    .storageFailed, "the store file is damaged (an outcome cannot be read)",
                    hint: "check whether the changes are stored before using another key"))
        }
        return .success(result)
    }

    /// Why a set with a new key is not saved; nil if it may be.
    func refusal(of set: SaveRequest, time: Double) throws(SQLError) -> LarderError? {
        guard !set.changeSet.idempotencyKey.isEmpty else { return nil }
        let statement = try statements.statement(Layout.findOutcomeTime)
        defer { statement.reset() }
        try statement.bind([.integer(set.keyUser), .integer(Limits.idempotencyKeysMax)])
        guard try statement.step() else { return nil }
        // The clock may have been set back.
        let secondsLeft = min(
            statement.double(at: 0) + Limits.idempotencyKeySecondsMax - time,
            Limits.idempotencyKeySecondsMax)
        guard secondsLeft > 0 else { return nil }
        for key in set.changeSet.releasedKeys
        where try number(of: key, set) != nil {
            return nil
        }
        return LarderError(
            .resourceExhausted,
            "this user has saved with \(Limits.idempotencyKeysMax) idempotency keys within a day, "
                + "each of which is kept for a day; the next one may be used in "
                + "\(Int64(clamped: secondsLeft.rounded(.up))) seconds",
            hint: "save without a key, release keys whose results were received, or save later")
    }

    /// The number of the outcome with a key among those of the user who saves a set; nil if there
    /// is none.
    private func number(
        of key: String, _ set: SaveRequest
    ) throws(SQLError) -> Int64? {
        let statement = try statements.statement(Layout.findOutcomeNumber)
        defer { statement.reset() }
        try statement.bind([.integer(set.keyUser), .text(key)])
        return try statement.step() ? statement.int64(at: 0) : nil
    }

    /// Stores the result of a set with a key and forgets those that it releases, in the same
    /// savepoint.
    func store(
        _ result: SaveResult, of set: SaveRequest, time: Double
    ) throws(SQLError) {
        var released: Int64?
        for key in set.changeSet.releasedKeys {
            guard let number = try number(of: key, set) else { continue }
            released = released ?? number
            try statements.statement(Layout.releaseOutcome).run([
                .integer(set.keyUser), .text(key),
            ])
        }
        let key = set.changeSet.idempotencyKey
        guard !key.isEmpty else { return }
        let stored = StoredOutcome(result)
        try statements.statement(Layout.insertOutcome).run([
            .integer(set.keyUser), .text(key), .integer(Int64(bitPattern: set.digest)),
            .real(time),
            stored.transaction.map { .integer($0) } ?? .null, .text(stored.inserted),
            .text(stored.versions), .integer(stored.deleted), .text(stored.merged),
            .text(stored.affected), released.map { .integer($0) } ?? .null,
        ])
        try statements.statement(Layout.forgetOutcomes).run([
            .real(time - Limits.idempotencyKeySecondsMax),
            .integer(Self.deletedAtOnce),
        ])
    }
}

extension SaveRequest {
    /// The user to whom the idempotency key belongs.
    fileprivate var keyUser: Int64 { source.userIdentifier.map(Int64.init) ?? Layout.noUser }
}
