import Foundation
internal import LarderModel
internal import LarderObjects
internal import Synchronization

/// The history of the stores of a container.
///
/// A store deletes its oldest transactions only, and never the newest. The numbers of other deleted
/// transactions are here: they are left out of what is fetched.
final class StoreHistory: Sendable {
    typealias Stored = LarderModel.HistoryTransaction

    private struct Deleted {
        /// All transactions up to this one are deleted.
        var upTo: Int64 = 0
        /// Later ones.
        var numbers: Set<Int64> = []
    }

    private static let deletedMax = 65_536

    private let stores: [any ObjectStore]
    private let types: [String: any PersistentModel.Type]
    private let deleted = Mutex<[UUID: Deleted]>([:])
    /// The last known epoch of each store.
    private let epochs = Mutex<[UUID: Int64]>([:])

    init(_ stores: [any ObjectStore], _ types: [String: any PersistentModel.Type]) {
        self.stores = stores
        self.types = types
    }

    // MARK: - Tokens

    /// The position after the newest transaction of each store.
    func currentToken() throws -> DefaultHistoryToken {
        var token = DefaultHistoryToken(numbers: [:], epochs: [:])
        for store in stores {
            let current = try SwiftDataError.translating { () throws(LarderError) in
                try store.currentToken()
            }
            token = token.moved(
                to: current.number, epoch: current.epoch, in: store.identifier.uuidString)
        }
        return token
    }

    /// The position after a transaction in each store that a save has changed.
    func tokens(of transactions: [UUID: Int64]) -> [String: any HistoryToken] {
        var tokens: [String: any HistoryToken] = [:]
        for (identifier, number) in transactions {
            let name = identifier.uuidString
            tokens[name] = DefaultHistoryToken(
                numbers: [name: number], epochs: [name: epoch(of: identifier)])
        }
        return tokens
    }

    func learn(_ token: LarderModel.HistoryToken) {
        epochs.withLock { $0[token.store] = token.epoch }
    }

    private func epoch(of identifier: UUID) -> Int64 {
        if let epoch = epochs.withLock({ $0[identifier] }) { return epoch }
        // Without the epoch a token is not one of the store's history; a fetch with it is an error.
        guard let store = stores.first(where: { $0.identifier == identifier }),
            let token = try? store.currentToken()
        else { return 0 }
        learn(token)
        return token.epoch
    }

    /// The position of a token in one store; nil is the beginning.
    ///
    /// - Throws: ``SwiftDataError/historyTokenExpired``.
    func position(
        of token: DefaultHistoryToken, in store: any ObjectStore
    ) throws -> LarderModel.HistoryToken? {
        let own = Set(stores.map(\.identifier.uuidString))
        if let foreign = token.storeIdentifiers.first(where: { !own.contains($0) }) {
            throw SwiftDataError.historyTokenExpired.explained(
                "the history token is of the store \(foreign), which the container does not have")
        }
        let name = store.identifier.uuidString
        guard let number = token.number(in: name), let epoch = token.epoch(in: name) else {
            return nil
        }
        if let upTo = deleted.withLock({ $0[store.identifier]?.upTo }), number < upTo {
            throw SwiftDataError.historyTokenExpired
        }
        return LarderModel.HistoryToken(store: store.identifier, epoch: epoch, number: number)
    }

    func read(
        _ fetch: HistoryFetch, _ store: any ObjectStore
    ) throws -> [Stored] {
        do throws(LarderError) {
            return try store.history(fetch, objects: []).transactions
        } catch {
            switch error.code {
            case .futureToken, .foreignToken, .malformedToken:
                throw SwiftDataError.historyTokenExpired.explained(error.description)
            default: throw SwiftDataError.translated(error)
            }
        }
    }

    // MARK: - Fetching

    func fetch(
        _ descriptor: HistoryDescriptor<DefaultHistoryTransaction>
    ) throws -> [DefaultHistoryTransaction] {
        let predicate = descriptor.predicate.map { HistoryPredicate($0) }
        let limit = descriptor.fetchLimit == 0 ? Int.max : Int(clamping: descriptor.fetchLimit)
        var lists: [[Stored]] = []
        var start = DefaultHistoryToken(numbers: [:], epochs: [:])
        for store in stores {
            var fetch = HistoryFetch()
            if let selection = predicate?.selection {
                fetch = try self.fetch(selection, store)
            }
            if descriptor.sortBy.isEmpty, limit < .max, predicate?.selection.isExact ?? true {
                let left = deleted.withLock { $0[store.identifier]?.numbers.count ?? 0 }
                fetch.limit = limit.addingClamped(left + 1)
            }
            if let after = fetch.after {
                start = start.moved(
                    to: after.number, epoch: after.epoch, in: store.identifier.uuidString)
            }
            let known = deleted.withLock { $0[store.identifier] }
            lists.append(
                try read(fetch, store).filter { transaction in
                    guard let known else { return true }
                    return transaction.id > known.upTo && !known.numbers.contains(transaction.id)
                })
        }
        var found: [DefaultHistoryTransaction] = []
        var token = start
        for stored in Self.merged(lists, by: \.timestamp) {
            token = token.moved(
                to: stored.id, epoch: stored.token.epoch, in: stored.token.store.uuidString)
            let transaction = DefaultHistoryTransaction(stored, token, types)
            if let predicate, try !predicate.holds(for: transaction) { continue }
            found.append(transaction)
            if descriptor.sortBy.isEmpty, found.count == limit { break }
        }
        guard !descriptor.sortBy.isEmpty else { return found }
        return Array(found.sorted(using: descriptor.sortBy).prefix(limit))
    }

    /// The fetch with which a store makes a selection.
    private func fetch(
        _ selection: HistoryPredicate.StoreSelection, _ store: any ObjectStore
    ) throws -> HistoryFetch {
        for token in selection.others {
            if let position = try position(of: token, in: store) {
                _ = try read(HistoryFetch(after: position, limit: 0), store)
            }
        }
        var fetch = HistoryFetch()
        for token in selection.after {
            guard let position = try position(of: token, in: store) else { continue }
            fetch.after = fetch.after.map { max($0, position) } ?? position
        }
        fetch.filter.authors = selection.authors ?? []
        fetch.filter.since = selection.since
        fetch.filter.until = selection.until
        return fetch
    }

    /// The transactions of all stores in the order of time, those of each store in their order.
    static func merged<Transaction>(
        _ lists: [[Transaction]], by timestamp: (Transaction) -> Date
    ) -> [Transaction] {
        guard lists.count > 1 else { return lists.first ?? [] }
        var heads = lists.map { $0[...] }
        var all: [Transaction] = []
        while true {
            let next = heads.indices.filter { !heads[$0].isEmpty }.min { left, right in
                timestamp(heads[left][heads[left].startIndex])
                    < timestamp(heads[right][heads[right].startIndex])
            }
            guard let next, let first = heads[next].popFirst() else { return all }
            all.append(first)
        }
    }

    // MARK: - Deleting

    func delete(_ descriptor: HistoryDescriptor<DefaultHistoryTransaction>) throws {
        let matching = try fetch(descriptor)
        guard !matching.isEmpty else { return }
        for store in stores {
            let name = store.identifier.uuidString
            let numbers = Set(
                matching.lazy.filter { $0.storeIdentifier == name }.map(\.transactionIdentifier))
            guard !numbers.isEmpty else { continue }
            try delete(numbers, of: store)
        }
    }

    private func delete(_ numbers: Set<Int64>, of store: any ObjectStore) throws {
        let known = deleted.withLock { $0[store.identifier] } ?? Deleted()
        let all = known.numbers.union(numbers)
        let stored = try read(HistoryFetch(includesChanges: false), store)
        let oldest = stored.prefix { $0.id <= known.upTo || all.contains($0.id) }
        let upTo = max(known.upTo, oldest.last?.id ?? 0)
        let left = all.filter { $0 > upTo }
        guard left.count <= Self.deletedMax else {
            throw SwiftDataError.invalidTransactionFetchRequest.explained(
                "more than \(Self.deletedMax) transactions after older ones cannot be deleted; "
                    + "delete the oldest first")
        }
        if let last = oldest.last {
            _ = try SwiftDataError.translating { () throws(LarderError) in
                try store.deleteHistory(.upTo(last.token))
            }
        }
        deleted.withLock { deleted in
            var current = deleted[store.identifier] ?? Deleted()
            current.upTo = max(current.upTo, upTo)
            current.numbers = current.numbers.union(left).filter { $0 > current.upTo }
            deleted[store.identifier] = current
        }
    }
}
