internal import Foundation
internal import LarderModel
internal import LarderObjects

extension ModelContext {
    /// The transactions that match, in the order of their commits or of the descriptor.
    ///
    /// - Throws: ``SwiftDataError/historyTokenExpired`` if the history after a token of the
    ///   predicate was deleted, or if a token is of another store or of a later state of the
    ///   store; ``SwiftDataError/invalidTransactionFetchRequest`` for transactions that the
    ///   container's stores do not have.
    public func fetchHistory<T: HistoryTransaction>(
        _ descriptor: HistoryDescriptor<T>
    ) throws -> [T] {
        var lists = try customHistories(of: T.self) { try $0.fetchHistory(descriptor) }
        if let own = descriptor as? HistoryDescriptor<DefaultHistoryTransaction> {
            lists.append(try core.history.fetch(own).compactMap { $0 as? T })
        }
        guard lists.count > 1 else { return lists.first ?? [] }
        let all = StoreHistory.merged(lists, by: \.timestamp)
        let ordered = descriptor.sortBy.isEmpty ? all : all.sorted(using: descriptor.sortBy)
        let limit = descriptor.fetchLimit == 0 ? Int.max : Int(clamping: descriptor.fetchLimit)
        return Array(ordered.prefix(limit))
    }

    /// Deletes the transactions that match. A token before them is expired if no transaction
    /// before it is left.
    ///
    /// A store deletes its oldest transactions only. Others, and the newest, stay in it; the
    /// container does not return them any more, but others on the store do.
    ///
    /// - Throws: as ``fetchHistory(_:)``.
    public func deleteHistory<T: HistoryTransaction>(_ descriptor: HistoryDescriptor<T>) throws {
        _ = try customHistories(of: T.self) { try $0.deleteHistory(descriptor) }
        if let own = descriptor as? HistoryDescriptor<DefaultHistoryTransaction> {
            try core.history.delete(own)
        }
    }

    /// Calls the stores that others write and that have transactions of the type, which may be that
    /// of Larder's stores.
    private func customHistories<T: HistoryTransaction, Result>(
        of type: T.Type, _ body: (any OtherStore) throws -> Result?
    ) throws -> [Result] {
        let stores = core.model.allStores.compactMap { $0 as? any OtherStore }
        let results = try stores.compactMap(body)
        guard !results.isEmpty || type == DefaultHistoryTransaction.self else {
            throw SwiftDataError.invalidTransactionFetchRequest.explained(
                "the stores have no \(type); fetch the type of a store's history")
        }
        return results
    }
}
