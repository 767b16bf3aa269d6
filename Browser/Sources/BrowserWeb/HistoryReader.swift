import BrowserViews
import LarderClient

/// Reads the history in windows of transactions, the newest first, so that a page reads a bounded
/// part of a long history.
struct HistoryReader {
    static let transactionsMax = 30
    /// The transactions of one window, and the windows of one page.
    private static let windowMax: Int64 = 5_000
    private static let windowsMax = 10

    let client: StoreClient

    /// - Parameters:
    ///   - object: The object whose changes are shown; nil for all changes.
    ///   - before: The number of a transaction; only earlier ones are shown. 0 for all.
    func page(of object: PersistentIdentifier?, before: Int64) async throws -> HistoryPage {
        let newest = try await client.currentToken()
        var end = before > 0 ? min(before - 1, newest.number) : newest.number
        var found: [HistoryTransaction] = []
        for _ in 0..<Self.windowsMax {
            guard end > 0, found.count < Self.transactionsMax else { break }
            let start = max(0, end - Self.windowMax)
            let part: [HistoryTransaction]
            do {
                part = try await transactions(of: object, after: start, upTo: end, newest)
            } catch let error as LarderError where error.code == .tokenExpired {
                // Earlier ones have been deleted; those after them are in a smaller window.
                return try await remaining(of: object, upTo: end, newest, found)
            }
            found += part
            end = start
            // The window had more than were returned.
            if found.count >= Self.transactionsMax { end = (found.last?.id ?? 1) - 1 }
        }
        return HistoryPage(object: object, transactions: found, older: end > 0 ? end + 1 : nil)
    }

    private func remaining(
        of object: PersistentIdentifier?, upTo end: Int64, _ newest: HistoryToken,
        _ found: [HistoryTransaction]
    ) async throws -> HistoryPage {
        let part = try await transactions(of: object, after: nil, upTo: end, newest)
        return HistoryPage(object: object, transactions: found + part, older: nil)
    }

    private func transactions(
        of object: PersistentIdentifier?, after start: Int64?, upTo end: Int64,
        _ newest: HistoryToken
    ) async throws -> [HistoryTransaction] {
        func token(_ number: Int64) -> HistoryToken {
            HistoryToken(store: newest.store, epoch: newest.epoch, number: number)
        }
        let fetch = HistoryFetch(
            after: start.map(token), upTo: token(end),
            where: HistoryFilter(entities: object.map { [$0.entityName] } ?? []),
            newestFirst: true, limit: object == nil ? Self.transactionsMax : nil)
        let history = try await client.history(fetch)
        guard let object, let key = object.permanentKey else { return history.transactions }
        let own = history.transactions.compactMap { transaction -> HistoryTransaction? in
            var transaction = transaction
            transaction.runs = transaction.runs.filter {
                $0.entityName == object.entityName && $0.keys.contains(key)
            }
            // The run of an insertion has many objects; only this one is shown.
            for index in transaction.runs.indices { transaction.runs[index].keys = key...key }
            transaction.tombstones = transaction.tombstones.filter { $0.key == key }
            return transaction.runs.isEmpty ? nil : transaction
        }
        return Array(own.prefix(Self.transactionsMax))
    }
}
