import LarderModel
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
        let digest = changes.idempotencyKey.isEmpty ? 0 : try changes.digest()
        let outcomes = writer.save([SaveRequest(changes, from: source, digest: digest)])
        guard let outcome = outcomes.first else {
            preconditionFailure("the writer returns one outcome per set")
        }
        maintain()
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
