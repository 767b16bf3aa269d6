import LarderModel
internal import LarderWire

/// Joins the parts of transactions that the server sends in several replies.
struct TransactionAssembly {
    /// A transaction of which more parts follow.
    private var partial: HistoryTransaction?

    /// The transactions that are complete with a reply.
    mutating func append(_ reply: HistoryReply) -> [HistoryTransaction] {
        var transactions = reply.transactions
        if let first = transactions.first, var joined = partial, joined.id == first.id {
            partial = nil
            joined.runs += first.runs
            joined.tombstones += first.tombstones
            transactions[0] = joined
        }
        if reply.isPartial { partial = transactions.popLast() }
        return transactions
    }
}
