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
        if T.self != DefaultHistoryTransaction.self {
            return try customHistories { try $0.fetchHistory(descriptor) }.flatMap { $0 }
        }
        let own = try Self.own(descriptor)
        return try core.history.fetch(own).compactMap { $0 as? T }
    }

    /// Deletes the transactions that match. A token before them is expired if no transaction
    /// before it is left.
    ///
    /// A store deletes its oldest transactions only. Others, and the newest, stay in it; the
    /// container does not return them any more, but others on the store do.
    ///
    /// - Throws: as ``fetchHistory(_:)``.
    public func deleteHistory<T: HistoryTransaction>(_ descriptor: HistoryDescriptor<T>) throws {
        if T.self != DefaultHistoryTransaction.self {
            _ = try customHistories { try $0.deleteHistory(descriptor) }
            return
        }
        try core.history.delete(try Self.own(descriptor))
    }

    /// Calls the stores that others write and that have transactions of the type.
    private func customHistories<Result>(
        _ body: (any OtherStore) throws -> Result?
    ) throws -> [Result] {
        let stores = core.model.allStores.compactMap { $0 as? any OtherStore }
        let results = try stores.compactMap(body)
        guard !results.isEmpty else {
            throw SwiftDataError.invalidTransactionFetchRequest.explained(
                "the stores have no transactions of this type")
        }
        return results
    }

    private static func own<T: HistoryTransaction>(
        _ descriptor: HistoryDescriptor<T>
    ) throws -> HistoryDescriptor<DefaultHistoryTransaction> {
        guard let own = descriptor as? HistoryDescriptor<DefaultHistoryTransaction> else {
            throw SwiftDataError.invalidTransactionFetchRequest.explained(
                "the stores have no \(T.self); fetch DefaultHistoryTransaction")
        }
        return own
    }
}
