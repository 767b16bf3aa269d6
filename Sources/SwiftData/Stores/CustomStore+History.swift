internal import Foundation
internal import LarderModel
internal import LarderObjects

/// A store that others write, without its type: its history, and the store for a context.
protocol OtherStore {
    func forContext(_ state: EditingState) -> any ObjectStore
    var storeIdentifier: String { get }
    /// The transactions; nil for a store that has none of the type.
    func fetchHistory<T: HistoryTransaction>(_ descriptor: HistoryDescriptor<T>) throws -> [T]?
    func deleteHistory<T: HistoryTransaction>(_ descriptor: HistoryDescriptor<T>) throws -> Void?
    /// The transactions after a token of the store, and the number of the last announced save: the
    /// saves that are announced later are not among them.
    ///
    /// - Throws: ``SwiftDataError/invalidTransactionFetchRequest`` if the store has no history, or
    ///   tokens of another type, and what the store throws.
    func transactions(
        after token: any HistoryToken
    ) throws -> (transactions: [StoreHistory.Stored], last: Int64)
    /// The token that the store has returned for a save, once.
    func takeToken(of number: Int64) -> (any HistoryToken)?
}

extension CustomStore: OtherStore {
    var storeIdentifier: String { store.identifier }

    func forContext(_ state: EditingState) -> any ObjectStore { CustomStore(self, state) }

    func fetchHistory<T: HistoryTransaction>(
        _ descriptor: HistoryDescriptor<T>
    ) throws -> [T]? {
        func fetch<Provider: HistoryProviding>(_ provider: Provider) throws -> [T]? {
            guard let own = descriptor as? HistoryDescriptor<Provider.HistoryType> else {
                return nil
            }
            return try provider.fetchHistory(own) as? [T]
        }
        return try SwiftDataError.translating { () throws(LarderError) in
            try calling { try (store as? any HistoryProviding).flatMap { try fetch($0) } }
        }
    }

    func deleteHistory<T: HistoryTransaction>(_ descriptor: HistoryDescriptor<T>) throws -> Void? {
        func delete<Provider: HistoryProviding>(_ provider: Provider) throws -> Void? {
            guard let own = descriptor as? HistoryDescriptor<Provider.HistoryType> else {
                return nil
            }
            return try provider.deleteHistory(own)
        }
        return try SwiftDataError.translating { () throws(LarderError) in
            try calling { try (store as? any HistoryProviding).flatMap { try delete($0) } }
        }
    }

    func transactions(
        after token: any HistoryToken
    ) throws -> (transactions: [StoreHistory.Stored], last: Int64) {
        func fetch<Provider: HistoryProviding>(_ provider: Provider) throws -> [StoreHistory.Stored]
        {
            guard let found = try provider.transactions(after: token) else {
                throw noTransactions("its tokens are not \(type(of: token))")
            }
            return found.map { stored($0) }
        }
        return try SwiftDataError.translating { () throws(LarderError) in
            // A save of another thread waits for the lock, so it is announced later.
            try calling {
                guard let provider = store as? any HistoryProviding else {
                    throw noTransactions("it has no history")
                }
                return (try fetch(provider), saves.number)
            }
        }
    }

    private func noTransactions(_ reason: String) -> SwiftDataError {
        .invalidTransactionFetchRequest.explained(
            "the store \(storeIdentifier) has no transactions after the token: \(reason)")
    }

    /// The part of a transaction that observers compare: the author and the entities.
    private func stored(_ transaction: some HistoryTransaction) -> StoreHistory.Stored {
        var runs: [HistoryRun] = []
        for change in transaction.changes {
            let changed = change.changedPersistentIdentifier
            guard let key = changed.permanentKey else { continue }
            runs.append(HistoryRun(change.kind, changed.entityName, key...key))
        }
        return StoreHistory.Stored(
            token: LarderModel.HistoryToken(store: identifier, epoch: 0, number: 0),
            timestamp: transaction.timestamp, author: transaction.author ?? "", runs: runs)
    }

    func takeToken(of number: Int64) -> (any HistoryToken)? {
        // Only for the lock: the closure throws nothing.
        try? calling { saves.tokens.removeValue(forKey: number) }
    }

    func history(_ fetch: HistoryFetch, objects: [HistoryObjects]) throws(LarderError) -> History {
        throw noHistory
    }

    func deleteHistory(_ deletion: HistoryDeletion) throws(LarderError) -> Int64 {
        throw noHistory
    }

    private var noHistory: LarderError {
        LarderError(.unsupported, "the store has no history of Larder's")
    }
}

extension HistoryChange {
    fileprivate var kind: HistoryRun.Kind {
        switch self {
        case .insert: .inserted
        case .update: .updated
        case .delete: .deleted
        }
    }
}

extension HistoryProviding {
    /// The transactions after a token; nil for one of another type. A store that cannot select
    /// them returns all.
    fileprivate func transactions(after token: some HistoryToken) throws -> [HistoryType]? {
        guard let own = token as? HistoryType.TokenType,
            let descriptor = HistoryDescriptor<HistoryType>.after(token)
        else { return nil }
        let found: [HistoryType]
        do {
            found = try fetchHistory(descriptor)
        } catch let error as DataStoreError where error != .unsupportedFeature {
            found = try fetchHistory(HistoryDescriptor())
        } catch SwiftDataError.unsupportedPredicate {
            found = try fetchHistory(HistoryDescriptor())
        }
        return found.filter { $0.token > own }
    }
}

extension HistoryDescriptor {
    /// `#Predicate { $0.token > token }`, which does not compile, because the type of the tokens of
    /// the transactions is not known to be that of the token.
    fileprivate static func after<Token: HistoryToken>(_ token: Token) -> HistoryDescriptor? {
        typealias Path = any KeyPath<T, Token> & Sendable
        // A default store selects by this key path, not by that of the protocol's requirement.
        let isDefault = T.self == DefaultHistoryTransaction.self
        let keyPath: AnyKeyPath = isDefault ? \DefaultHistoryTransaction.token : \T.token
        guard let path = cast(keyPath, to: Path.self) else { return nil }
        return HistoryDescriptor(
            predicate: Predicate { transaction in
                PredicateExpressions.build_Comparison(
                    lhs: PredicateExpressions.build_KeyPath(
                        root: PredicateExpressions.build_Arg(transaction), keyPath: path),
                    rhs: PredicateExpressions.build_Arg(token), op: .greaterThan)
            })
    }
}
