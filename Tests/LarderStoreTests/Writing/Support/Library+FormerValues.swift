import LarderModel
import LarderQuery
import Testing

@testable import LarderStore

extension Library {
    /// The values that the history has from before a transaction.
    func formerValues(
        _ transaction: Int64
    ) throws -> [PersistentIdentifier: [String: Value]] {
        var position = HistoryPosition(number: transaction)
        let description = store.storeDescription
        let upTo = HistoryToken(
            store: description.identifier, epoch: description.historyEpoch, number: transaction)
        let reader = try store.makeReader()
        var values: [PersistentIdentifier: [String: Value]] = [:]
        while true {
            let page = try reader.history(
                HistoryPageRequest(upTo: upTo, from: position, .all, bytesMax: 1_000),
                budget: ReadBudget())
            for tombstone in page.transactions.flatMap(\.tombstones) {
                values[identifier(tombstone.entityName, tombstone.key)] = tombstone.values
            }
            if page.isLast { return values }
            position = page.end
        }
    }
}
