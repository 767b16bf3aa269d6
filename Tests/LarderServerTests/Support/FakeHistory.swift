import FoundationEssentials
import LarderModel
import LarderQuery

/// The history of a fake store, oldest first. It has no newest-first order and no partial
/// transactions.
struct FakeHistory {
    private(set) var transactions: [HistoryTransaction] = []
    private(set) var deleted: Int64 = 0
    private(set) var last: Int64 = 0
    /// The pages that were read in the pool, and on an event loop.
    var poolPages = 0
    var loopPages = 0

    /// - Returns: the number of the transaction.
    mutating func append(
        _ identifier: UUID, _ keys: ClosedRange<Int64>, author: String = ""
    ) -> Int64 {
        last += 1
        transactions.append(
            HistoryTransaction(
                token: HistoryToken(store: identifier, epoch: 0, number: last),
                timestamp: Date(timeIntervalSinceReferenceDate: 0), author: author,
                runs: [HistoryRun(.inserted, "Item", keys)]))
        return last
    }

    func page(
        _ request: HistoryPageRequest, of store: StoreDescription
    ) throws(LarderError) -> HistoryPage {
        try request.after?.check(in: store, deleted: deleted, last: last)
        if let start = request.start, start.number <= deleted {
            throw LarderError(.tokenExpired, "the history has been deleted")
        }
        let first = request.after == nil && request.startsNow ? last : request.after?.number ?? 0
        var end = HistoryPosition(number: request.start?.number ?? first + 1)
        var page = HistoryPage(end: end, newest: last, isLast: false)
        var byteCount = 0
        for transaction in transactions.drop(while: { $0.id < end.number }) {
            guard page.transactions.count < request.countMax, byteCount < request.bytesMax
            else { return page }
            if let selected = request.selection.selected(transaction) {
                page.transactions.append(selected)
                byteCount += 64 + selected.author.utf8.count
            }
            end = HistoryPosition(number: transaction.id + 1)
            page.end = end
        }
        page.end = HistoryPosition(number: max(end.number, last + 1))
        page.isLast = true
        return page
    }

    func end(of deletion: HistoryDeletion) -> Int64 {
        let end =
            switch deletion {
            case .upTo(let token): token.number
            case .before: last
            case .keeping(let count): last - count
            }
        return max(0, min(end, last - 1))
    }

    mutating func delete(upTo number: Int64, rowsMax: Int) -> HistoryDeletionStep {
        let count = transactions.prefix(rowsMax).prefix { $0.id <= number }.count
        deleted = max(deleted, transactions.prefix(count).last?.id ?? 0)
        transactions.removeFirst(count)
        return HistoryDeletionStep(deletedCount: Int64(count), isLast: count < rowsMax)
    }
}
