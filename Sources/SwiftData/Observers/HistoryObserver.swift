import Foundation
internal import LarderModel
internal import LarderObjects
internal import Synchronization

/// Counts the transactions in the stores of a container, of all contexts and processes, that change
/// some models and that some authors have saved.
///
/// The counter changes on the actor that has made the observer; without an actor, it changes on the
/// thread that announces a commit. Observation reports it.
///
/// Sendable unchecked: the counter is behind a lock, everything else is immutable.
public final class HistoryObserver: Observable, @unchecked Sendable {
    public let modelContainer: ModelContainer
    /// The types whose changes count, with their subclasses; empty for all.
    public let observedModels: [any PersistentModel.Type]
    /// The authors whose transactions count; empty for all, and for those without an author.
    public let authors: Set<String>

    private let registrar = ObservationRegistrar()
    private let interests: [CommitInterest]
    private let state = Mutex(State())

    private struct State {
        var counter = 0
        /// Transactions that are not in the counter yet.
        var pending = 0
        var isScheduled = false
        /// The last transaction of each store that was counted or left out.
        var last: [UUID: Int64] = [:]
        /// Announced before the positions were known.
        var early: [(store: UUID, number: Int64, counts: Bool)]? = []
        var observations: [any AnyObject & Sendable] = []
    }

    /// Counts what is committed after the call, or after tokens.
    ///
    /// - Parameter historyTokens: A position in each store, by the identifier of the store. A store
    ///   without one begins at its current position.
    ///   Those of a store that a program writes itself are the tokens of its ``HistoryProviding``.
    /// - Throws: ``SwiftDataError/historyTokenExpired``;
    ///   ``SwiftDataError/invalidTransactionFetchRequest`` for a token of another type, or of a
    ///   store without a history.
    public convenience init(
        historyTokens: [String: any HistoryToken]? = nil,
        observedModels: [any PersistentModel.Type] = [], authors: Set<String> = [],
        modelContainer: ModelContainer, isolation: isolated (any Actor)? = #isolation
    ) throws {
        self.init(observedModels, authors, modelContainer)
        let hasActor = isolation != nil
        for store in modelContainer.core.model.allStores {
            let observation = store.observeCommits { [weak self, weak isolation] transaction in
                guard let self, add(transaction) else { return }
                guard hasActor else { return deliver() }
                guard let isolation else { return }
                Task { [weak self] in await self?.deliver(isolation) }
            }
            state.withLock { $0.observations.append(observation) }
        }
        try start(historyTokens ?? [:])
    }

    private init(
        _ observedModels: [any PersistentModel.Type], _ authors: Set<String>,
        _ modelContainer: ModelContainer
    ) {
        self.observedModels = observedModels
        self.authors = authors
        self.modelContainer = modelContainer
        interests = observedModels.map { CommitInterest($0, modelContainer.core.model) }
    }

    /// The number of transactions that were counted.
    public var eventCounter: Int {
        registrar.access(self, keyPath: \.eventCounter)
        return state.withLock { $0.counter }
    }

    // MARK: - Counting

    /// Counts what was committed between the tokens and the first announcement.
    private func start(_ tokens: [String: any HistoryToken]) throws {
        let history = modelContainer.core.history
        let stores = modelContainer.core.model.allStores
        var last: [UUID: Int64] = [:]
        var count = 0
        for store in stores {
            let found = try history.transactions(after: tokens[store.name], in: store)
            count += found.transactions.count { counts($0) }
            last[store.identifier] = found.last
        }
        let names = Set(stores.map(\.name))
        if let foreign = tokens.keys.first(where: { !names.contains($0) }) {
            throw SwiftDataError.historyTokenExpired.explained(
                "the history token is of the store \(foreign), which the container does not have")
        }
        state.withLock { state in
            state.counter = count
            for early in state.early ?? [] where early.number > last[early.store] ?? 0 {
                last[early.store] = early.number
                if early.counts { state.counter += 1 }
            }
            state.last = last
            state.early = nil
        }
    }

    private func counts(_ transaction: LarderModel.HistoryTransaction) -> Bool {
        (authors.isEmpty || authors.contains(transaction.author))
            && (interests.isEmpty || interests.contains { $0.includes(transaction) })
    }

    /// - Returns: whether the counter has to be changed, and nobody does so yet.
    private func add(_ transaction: LarderModel.HistoryTransaction) -> Bool {
        let counts = counts(transaction)
        let (store, number) = (transaction.token.store, transaction.id)
        return state.withLock { state in
            if state.early != nil {
                state.early?.append((store, number, counts))
                return false
            }
            guard number > state.last[store] ?? 0 else { return false }
            state.last[store] = number
            guard counts else { return false }
            state.pending += 1
            defer { state.isScheduled = true }
            return !state.isScheduled
        }
    }

    private func deliver(_ isolation: isolated any Actor) { deliver() }

    private func deliver() {
        registrar.withMutation(of: self, keyPath: \.eventCounter) {
            state.withLock { state in
                state.counter += state.pending
                state.pending = 0
                state.isScheduled = false
            }
        }
    }
}

extension ObjectStore {
    /// The identifier of the store in transactions and tokens.
    fileprivate var name: String {
        (self as? any OtherStore)?.storeIdentifier ?? identifier.uuidString
    }
}

extension StoreHistory {
    /// The transactions of a store after a token, which is its current position if there is none,
    /// and the number of the last one.
    fileprivate func transactions(
        after token: (any HistoryToken)?, in store: any ObjectStore
    ) throws -> (transactions: [Stored], last: Int64) {
        guard let token else {
            let current = try SwiftDataError.translating { () throws(LarderError) in
                try store.currentToken()
            }
            return ([], current.number)
        }
        if let custom = store as? any OtherStore { return try custom.transactions(after: token) }
        guard let own = token as? DefaultHistoryToken else {
            throw SwiftDataError.invalidTransactionFetchRequest.explained(
                "the store has no \(type(of: token)); pass a DefaultHistoryToken")
        }
        let found = try read(HistoryFetch(after: try position(of: own, in: store)), store)
        return (found, found.last?.id ?? own.number(in: store.name) ?? 0)
    }
}
