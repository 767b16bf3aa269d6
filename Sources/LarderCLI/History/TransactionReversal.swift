import LarderClient
import LarderModel

/// Finds the changes that undo a transaction.
///
/// A property that a later transaction has changed again is a conflict: its value now is not the
/// one that the transaction has set.
struct TransactionReversal {
    private struct Property: Hashable {
        let object: PersistentIdentifier
        let name: String
    }

    private let transaction: HistoryTransaction
    private let snapshot: StoreClient
    private var reversal: Reversal
    /// The last transactions that changed a property, or an object in any way, after it.
    private var changedLater: [Property: Int64] = [:]
    private var touchedLater: [PersistentIdentifier: Int64] = [:]
    private var deletedLater: [PersistentIdentifier: Int64] = [:]

    private static let pageCount = 1_000

    /// - Parameter token: The position after the transaction.
    /// - Throws: `objectNotFound` if the transaction does not exist.
    static func reversal(
        of token: HistoryToken, _ snapshot: StoreClient
    ) throws -> Reversal {
        let before = HistoryToken(
            store: token.store, epoch: token.epoch, number: max(0, token.number - 1))
        let page = try snapshot.history(HistoryFetch(after: before, upTo: token))
        guard let transaction = page.transactions.first(where: { $0.id == token.number }) else {
            throw LarderError(
                .objectNotFound, "there is no transaction \(token.number)",
                hint: "`larder history` prints the transactions")
        }
        let count = transaction.changes.count
        guard count <= Limits.changesMax else {
            throw LarderError(
                .resourceExhausted,
                "transaction \(token.number) has \(count) changes, and at most "
                    + "\(Limits.changesMax) can be undone at once",
                hint: "restore a backup, or a state of the archive")
        }
        var finder = TransactionReversal(
            transaction: transaction, snapshot: snapshot,
            reversal: Reversal(try snapshot.schema()))
        try finder.readLater(after: token)
        try finder.makeChanges()
        return finder.reversal
    }

    private init(transaction: HistoryTransaction, snapshot: StoreClient, reversal: Reversal) {
        self.transaction = transaction
        self.snapshot = snapshot
        self.reversal = reversal
    }

    /// Notes the later changes of the transaction's objects.
    private mutating func readLater(after token: HistoryToken) throws {
        let objects = Set(transaction.changes.lazy.map(\.identifier))
        let entities = Set(transaction.runs.map(\.entityName)).sorted()
        var fetch = HistoryFetch(
            after: token, where: HistoryFilter(entities: entities), limit: Self.pageCount)
        while true {
            let page = try snapshot.history(fetch)
            for later in page.transactions {
                for change in later.changes where objects.contains(change.identifier) {
                    note(change, in: later.id)
                }
            }
            guard page.transactions.count == Self.pageCount else { return }
            fetch.after = page.position
        }
    }

    private mutating func note(_ change: HistoryChange, in number: Int64) {
        touchedLater[change.identifier] = number
        if change.kind == .deleted { deletedLater[change.identifier] = number }
        for name in change.properties {
            changedLater[Property(object: change.identifier, name: name)] = number
        }
    }

    private mutating func makeChanges() throws {
        let changes = Array(transaction.changes)
        reversal.willRestore(changes.lazy.filter { $0.kind == .deleted }.map(\.identifier))
        let existing = changes.filter { $0.kind != .deleted }.map(\.identifier)
        var records: [PersistentIdentifier: Record] = [:]
        for start in stride(from: 0, to: existing.count, by: Limits.identifiersMax) {
            let part = existing[start..<min(existing.count, start + Limits.identifiersMax)]
            for record in try snapshot.objects(for: Array(part)) {
                records[record.identifier] = record
            }
        }
        for change in changes {
            switch change.kind {
            case .inserted: undoInsert(change, records[change.identifier])
            case .updated: undoUpdate(change, records[change.identifier])
            case .deleted: undoDelete(change)
            }
        }
    }

    private mutating func undoInsert(_ change: HistoryChange, _ object: Record?) {
        // An object that was deleted meanwhile needs nothing.
        guard let object else { return }
        if let number = touchedLater[change.identifier] {
            return reversal.addConflict(
                change.identifier, " was changed again by transaction \(number)")
        }
        reversal.delete(object)
    }

    private mutating func undoUpdate(_ change: HistoryChange, _ object: Record?) {
        guard let object else {
            let number = deletedLater[change.identifier].map { " by transaction \($0)" } ?? ""
            return reversal.addConflict(change.identifier, " was deleted\(number)")
        }
        var values: [String: Value] = [:]
        for name in change.properties {
            let kind = reversal.kind(of: name, in: change.identifier.entityName)
            let later = changedLater[Property(object: change.identifier, name: name)]
            switch (kind, later, change.former[name]) {
            case (.computed, _, _): continue
            case (.missing, _, _):
                reversal.addConflict(
                    change.identifier, ".\(name) is not in the schema any more")
            case (_, let number?, _):
                reversal.addConflict(
                    change.identifier, ".\(name) was changed again by transaction \(number)")
            case (.recorded, nil, let value?): values[name] = value
            case (.recorded, nil, nil), (.notRecorded, nil, _):
                reversal.addConflict(
                    change.identifier, ".\(name): the history does not have its value")
            }
        }
        reversal.update(object, to: values)
    }

    private mutating func undoDelete(_ change: HistoryChange) {
        guard
            reversal.schema.entity(named: change.identifier.entityName)?.recordsValues ?? false
        else {
            return reversal.addConflict(
                change.identifier, ": the history does not have its values")
        }
        reversal.insert(change.identifier, change.former)
    }
}
