package import LarderModel

/// Joins the parts of transactions that arrive in several replies, and gives them the
/// objects of these replies.
package struct TransactionAssembly {
    /// A transaction of which more parts follow.
    private var partial: HistoryTransaction?

    package init() {}

    /// The transactions that are complete with a reply.
    package mutating func append(_ reply: HistoryReply) -> [HistoryTransaction] {
        var transactions = reply.transactions
        if !reply.objects.isEmpty {
            let objects = Dictionary(
                reply.objects.lazy.flatMap { $0.records(store: reply.position.store) }
                    .map { ($0.identifier, $0) }, uniquingKeysWith: { $1 })
            for index in transactions.indices { transactions[index].add(from: objects) }
        }
        if let first = transactions.first, var joined = partial, joined.id == first.id {
            partial = nil
            joined.runs += first.runs
            joined.tombstones += first.tombstones
            joined.objects.merge(first.objects) { $1 }
            transactions[0] = joined
        }
        if reply.isPartial { partial = transactions.popLast() }
        return transactions
    }
}

extension HistoryTransaction {
    /// Adds those of some objects that the transaction has inserted or updated.
    fileprivate mutating func add(from records: [PersistentIdentifier: Record]) {
        for run in runs where run.kind != .deleted {
            for key in run.keys {
                let identifier = PersistentIdentifier(
                    store: token.store, entityName: run.entityName, key: key)
                if let record = records[identifier] { objects[identifier] = record }
            }
        }
    }
}
