import LarderModel
import LarderQuery
import LarderWire

/// Writes to a store without a connection to a server, for the program that has the store itself.
/// It has the meaning and the errors of the requests of the same names. Used from one thread at a
/// time.
package final class DirectWriter {
    private let writer: any StoreWriter
    private let source: ChangeSource
    private let limits = ServerLimits()

    /// - Parameter source: Recorded in the history with each transaction.
    /// - Throws: the error of the store's `makeWriter()`.
    package init(_ backend: any StoreBackend, source: ChangeSource) throws(LarderError) {
        writer = try backend.makeWriter()
        self.source = source
    }

    package func save(_ changes: ChangeSet) throws(LarderError) -> SaveResult {
        defer { maintain() }
        if changes.changes.count > Limits.changesMax, changes.idempotencyKey.isEmpty {
            return try writer.save(
                SaveRequest(ChangeSet(), from: source), reading: ChangesInMemory(changes)
            ).get()
        }
        let digest = changes.idempotencyKey.isEmpty ? 0 : try changes.digest()
        let outcomes = writer.save([SaveRequest(changes, from: source, digest: digest)])
        guard let outcome = outcomes.first else {
            preconditionFailure("the writer returns one outcome per set")
        }
        return try outcome.get()
    }

    /// - Returns: the number of transactions that were deleted.
    package func deleteHistory(_ deletion: HistoryDeletion) throws(LarderError) -> Int64 {
        defer { maintain() }
        let last = try writer.lastTransaction(of: deletion).get()
        var count: Int64 = 0
        while true {
            let step = try writer.deleteHistory(
                upTo: last, rowsMax: limits.historyDeletionRowsMax
            ).get()
            count += step.deletedCount
            if step.isLast { return count }
        }
    }

    private func maintain() {
        if writer.needsMaintenance { writer.performMaintenance() }
    }
}

/// A change set that has more changes than are planned at once.
private final class ChangesInMemory: ChangeSetReader {
    private static let countMax = 10_000

    private let set: ChangeSet
    private var offset = 0
    private var isAtEnd = false
    /// Sets with an idempotency key are saved at once.
    let digest: UInt64 = 0

    init(_ set: ChangeSet) { self.set = set }

    func rewind() { (offset, isAtEnd) = (0, false) }

    func next() -> ChangeSet? {
        guard !isAtEnd else { return nil }
        var part = set
        part.changes = Array(set.changes.dropFirst(offset).prefix(Self.countMax))
        offset += part.changes.count
        isAtEnd = offset == set.changes.count
        return part
    }
}
