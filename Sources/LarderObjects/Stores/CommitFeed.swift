internal import FoundationEssentials
internal import LarderClient
internal import LarderModel
internal import Synchronization

/// The commits of a store that a server serves, for all observers of one connection.
///
/// While there are observers, one thread waits for the server's feed and calls them. The feed
/// continues after its position when a lost connection is replaced. If the history after it was
/// deleted meanwhile, one transaction says that any object may have changed.
final class CommitFeed: Sendable {
    private enum State {
        case idle
        case running(ChangeFeed)
    }

    private let client: StoreClient
    private let entityNames: [String]
    private let observers = CommitObservers()
    private let state = Mutex(State.idle)

    init(_ client: StoreClient, _ schema: Schema) {
        self.client = client
        entityNames = schema.entities.map(\.name)
    }

    /// Begins with the first commit after the call. It waits for the server if there was no
    /// observer.
    func observe(_ body: @escaping CommitObservers.Body) -> CommitObservation {
        let observation = observers.add(body) { [weak self] in self?.stopIfUnobserved() }
        start()
        return observation
    }

    private func start() {
        let isRunning = state.withLock { if case .running = $0 { true } else { false } }
        if isRunning { return }
        // Without a position, the feed begins when its thread runs.
        let token = try? client.currentToken()
        let feed = client.changes(after: token)
        let isFirst = state.withLock { state in
            guard case .idle = state else { return false }
            state = .running(feed)
            return true
        }
        guard isFirst else { return feed.cancel() }
        do throws(LarderError) {
            // The thread has no reference to this object, which would outlive its store.
            try BackgroundThread.start { [observers, entityNames, weak self] in
                var current: ChangeFeed? = feed
                var entityNames = token == nil ? entityNames : []
                while let feed = current {
                    current = nil
                    if Self.deliver(feed, to: observers, anyChangeOf: entityNames) {
                        current = self?.continued(feed)
                        entityNames = self?.entityNames ?? []
                    } else {
                        self?.ended(feed)
                    }
                }
            }
        } catch {
            ended(feed)
        }
    }

    /// Calls the observers until the feed ends.
    ///
    /// - Parameter entityNames: The entities of which any object may have changed before the feed
    ///   begins.
    /// - Returns: whether the history after the feed's position was deleted. Another error is
    ///   final: the client is closed, or its schema is not served any more.
    private static func deliver(
        _ feed: ChangeFeed, to observers: CommitObservers, anyChangeOf entityNames: [String]
    ) -> Bool {
        var entityNames = entityNames
        do throws(LarderError) {
            while let event = try feed.nextEvent() {
                switch event {
                case .transaction(let transaction): observers.call(transaction)
                case .current(let token) where !entityNames.isEmpty:
                    observers.call(.anyChange(of: entityNames, upTo: token))
                    entityNames = []
                case .current, .interrupted, .resumed: break
                }
            }
            return false
        } catch {
            return error.code == .tokenExpired
        }
    }

    /// A feed that continues with the next commit; nil if there are no observers any more.
    private func continued(_ feed: ChangeFeed) -> ChangeFeed? {
        let next = client.changes(after: nil)
        let isContinued = state.withLock { state in
            guard case .running(let current) = state, current === feed else { return false }
            state = .running(next)
            return true
        }
        if !isContinued { next.cancel() }
        return isContinued ? next : nil
    }

    private func stopIfUnobserved() {
        let feed = state.withLock { state -> ChangeFeed? in
            guard observers.isEmpty, case .running(let feed) = state else { return nil }
            state = .idle
            return feed
        }
        feed?.cancel()
    }

    private func ended(_ feed: ChangeFeed) {
        state.withLock { state in
            if case .running(let current) = state, current === feed { state = .idle }
        }
    }
}

extension HistoryTransaction {
    private static let allKeys: ClosedRange<Int64> = 1...Int64.max - 1

    /// A transaction in place of those that a client cannot get any more.
    fileprivate static func anyChange(
        of entityNames: [String], upTo token: HistoryToken
    ) -> HistoryTransaction {
        HistoryTransaction(
            token: token, timestamp: Date(),
            runs: entityNames.map { HistoryRun(.updated, $0, allKeys) })
    }

    /// Whether any object may have changed, or may be gone.
    var isAnyChange: Bool { runs.first?.keys == Self.allKeys }
}
