internal import LarderClient
internal import LarderModel
internal import Synchronization

/// The commits of a store that a server serves, for all observers of one connection.
///
/// While there are observers, one thread waits for the server's feed and calls them. The feed
/// continues after its position when a lost connection is replaced.
final class CommitFeed: Sendable {
    private enum State {
        case idle
        case running(ChangeFeed)
    }

    private let client: StoreClient
    private let observers = CommitObservers()
    private let state = Mutex(State.idle)

    init(_ client: StoreClient) { self.client = client }

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
        // Without a position, the feed would begin when its thread runs.
        let feed = client.changes(after: try? client.currentToken())
        let isFirst = state.withLock { state in
            guard case .idle = state else { return false }
            state = .running(feed)
            return true
        }
        guard isFirst else { return feed.cancel() }
        do throws(LarderError) {
            // The thread has no reference to this object, which would outlive its store.
            try BackgroundThread.start { [observers, weak self] in
                Self.deliver(feed, to: observers)
                self?.ended(feed)
            }
        } catch {
            ended(feed)
        }
    }

    private static func deliver(_ feed: ChangeFeed, to observers: CommitObservers) {
        // An error is final: the client is closed, or its schema is not served any more.
        while let transaction = try? feed.next() { observers.call(transaction) }
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
