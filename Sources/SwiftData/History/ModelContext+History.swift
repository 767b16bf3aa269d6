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
        try core.history.delete(try Self.own(descriptor))
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
