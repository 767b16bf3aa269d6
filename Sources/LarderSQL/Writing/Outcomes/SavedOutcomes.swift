import FoundationEssentials
import LarderModel
import LarderQuery

/// A save with an idempotency key is done once. Repeating it returns the first result, for a day.
///
/// Keys belong to the user who saves: nobody can take, guess or remove those of others. A user who
/// has as many as one may have saves with no further key until its oldest one is a day old. To
/// forget that one earlier would break the promise: its save might be repeated, and stored twice.
///
/// A client that will not repeat a save any more, because it has the result, releases the key with
/// a later save. So a client that makes a key for each save has one outcome at a time.
package struct SavedOutcomes {
    /// Each save with a key adds an outcome, and deletes at most this many expired ones.
    private static let deletedAtOnce: Int64 = 4

    private let session: any WriteSession
    /// The store of the objects of results.
    private let store: UUID
    private let dialect: SQLDialect

    package init(_ session: any WriteSession, store: UUID, _ dialect: SQLDialect = .sqlite) {
        self.session = session
        self.store = store
        self.dialect = dialect
    }

    /// The outcome that is stored under the key of a set; nil if the set has to be saved. Outcomes
    /// of earlier sets of the same group are found too.
    package func outcome(
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
        var found: (digest: Int64?, outcome: StoredOutcome)?
        try session.rows(
            Layout.findOutcome, [.integer(set.keyUser), .text(key)]
        ) { row in
            found = (row[0].int64, StoredOutcome(row))
            return false
        }
        guard let found else { return nil }
        guard found.digest == Int64(bitPattern: set.digest) else {
            return .failure(
                LarderError(
                    .idempotencyMismatch,
                    "other changes have been saved under the idempotency key of this set",
                    hint: "repeat exactly the same changes, or use a new key for other changes"))
        }
        guard let result = found.outcome.result(store: store) else {
            return .failure(
                LarderError(
                    .storageFailed, "the store file is damaged (an outcome cannot be read)",
                    hint: "check whether the changes are stored before using another key"))
        }
        return .success(result)
    }

    /// Why a set with a new key is not saved; nil if it may be.
    package func refusal(of set: SaveRequest, time: Double) throws(SQLError) -> LarderError? {
        guard !set.changeSet.idempotencyKey.isEmpty else { return nil }
        var found: Double?
        try session.rows(
            Layout.findOutcomeTime, [.integer(set.keyUser), .integer(Limits.idempotencyKeysMax)]
        ) { row in
            if case .real(let seconds) = row[0] { found = seconds }
            return false
        }
        guard let found else { return nil }
        // The clock may have been set back.
        let secondsLeft = min(
            found + Limits.idempotencyKeySecondsMax - time,
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
        var number: Int64?
        try session.rows(
            Layout.findOutcomeNumber, [.integer(set.keyUser), .text(key)]
        ) { row in
            number = row[0].int64
            return false
        }
        return number
    }

    /// Stores the result of a set with a key and forgets those that it releases, in the same
    /// savepoint.
    package func store(
        _ result: SaveResult, of set: SaveRequest, time: Double
    ) throws(SQLError) {
        var released: Int64?
        for key in set.changeSet.releasedKeys {
            guard let number = try number(of: key, set) else { continue }
            released = released ?? number
            try session.run(Layout.releaseOutcome, [.integer(set.keyUser), .text(key)])
        }
        let key = set.changeSet.idempotencyKey
        guard !key.isEmpty else { return }
        let stored = StoredOutcome(result)
        try session.run(
            Layout.insertOutcome(dialect),
            [
                .integer(set.keyUser), .text(key), .integer(Int64(bitPattern: set.digest)),
                .real(time), stored.transaction.map { .integer($0) } ?? .null,
                .text(stored.inserted), .text(stored.versions), .integer(stored.deleted),
                .text(stored.merged), .text(stored.affected),
                released.map { .integer($0) } ?? .null,
            ])
        try session.run(
            Layout.forgetOutcomes,
            [.real(time - Limits.idempotencyKeySecondsMax), .integer(Self.deletedAtOnce)])
    }
}

extension SaveRequest {
    /// The user to whom the idempotency key belongs.
    package var keyUser: Int64 { source.userIdentifier.map(Int64.init) ?? Layout.noUser }
}
