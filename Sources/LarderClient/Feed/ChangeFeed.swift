public import LarderModel
internal import LarderWire
import Synchronization

/// The changes of a store: each transaction once, in order, first from the history and then as they
/// are committed.
///
/// When the connection is lost, the feed connects again and continues where it was; see ``Event``.
/// To continue in another process or at another time, store ``position`` and pass it to
/// `changes(after:)`. A feed whose reader is slow costs the server and other clients nothing: the
/// server waits, and reads the history later. A feed ends by ``cancel()``, which releasing the feed
/// also does, or with an error. One thread or task at a time may use it.
public final class ChangeFeed: Sendable {
    public enum Event: Hashable, Sendable {
        case transaction(HistoryTransaction)
        /// All transactions up to this position have been returned; later ones follow as they are
        /// committed. Reported once per connection.
        case current(HistoryToken)
        /// The connection was lost. The feed connects again.
        case interrupted(LarderError)
        /// There is a new connection, and the feed continues after this position.
        case resumed(after: HistoryToken)
    }

    private let follower: Follower
    private let start: HistoryToken?
    private let state: SharedState

    /// The state that the follower's request reads, too.
    fileprivate final class SharedState: Sendable {
        let state = Mutex(State())
    }

    fileprivate struct State {
        var assembly = TransactionAssembly()
        /// The events that have been received and not been returned.
        var events: ArraySlice<Event> = []
        /// Where to resume: after the last transaction that was received completely.
        var received: HistoryToken?
        /// After the last transaction that was returned.
        var returned: HistoryToken?
        var wasInterrupted = false
        var hasReportedCurrent = false
    }

    init(
        _ fetch: HistoryFetch, _ objects: [HistoryObjects], startsNow: Bool, client: StoreClient
    ) {
        start = fetch.after
        let state = SharedState()
        self.state = state
        follower = Follower(client: client) { () throws(LarderError) in
            var fetch = fetch
            if let received = state.state.withLock({ $0.received }) { fetch.after = received }
            return .history(
                HistoryRequest(
                    fetch, objects: try objects.requests(), startsNow: startsNow,
                    credit: Follower.window, follows: true))
        }
    }

    /// The position after the last transaction that was returned; before the first one, where the
    /// feed begins. nil until the server has replied to a feed without a token.
    public var position: HistoryToken? { state.state.withLock { $0.returned } ?? start }

    /// Ends the feed; `next()` returns nil from then on. Any thread may call it; a call that
    /// waits returns nil when the server has replied.
    public func cancel() {
        state.state.withLock { $0.events = [] }
        follower.cancel()
    }

    // MARK: Transactions

    /// The next transaction, blocking until there is one; nil after ``cancel()``.
    ///
    /// - Throws: `tokenExpired`, `foreignToken` or `futureToken` for the token; `unknownEntity` or
    ///   `unknownProperty` for the filter; `resourceExhausted` for too many feeds; errors of the
    ///   connection that trying again does not resolve. The feed has ended then.
    public func next() throws(LarderError) -> HistoryTransaction? {
        while let event = try nextEvent() {
            if case .transaction(let transaction) = event { return transaction }
        }
        return nil
    }

    /// The asynchronous form of `next()`.
    ///
    /// - Throws: what the blocking form throws, and `cancelled` if the task is cancelled.
    public func next() async throws(LarderError) -> HistoryTransaction? {
        while let event = try await nextEvent() {
            if case .transaction(let transaction) = event { return transaction }
        }
        return nil
    }

    // MARK: Events

    /// The next event, blocking.
    ///
    /// - Parameter timeout: How long to wait; nil is without a limit.
    /// - Returns: nil after ``cancel()``, or if there was no event in time.
    /// - Throws: as `next()` does.
    public func nextEvent(timeout: Duration? = nil) throws(LarderError) -> Event? {
        let deadline = timeout.map { MonotonicInstant.after($0) }
        while true {
            if let event = takeEvent() { return event }
            guard let event = try follower.next(until: deadline) else { return nil }
            try received(event)
        }
    }

    /// The asynchronous form of `nextEvent(timeout:)`.
    ///
    /// - Throws: what the blocking form throws, and `cancelled` if the task is cancelled.
    public func nextEvent(timeout: Duration? = nil) async throws(LarderError) -> Event? {
        let deadline = timeout.map { MonotonicInstant.after($0) }
        while true {
            if let event = takeEvent() { return event }
            guard let event = try await follower.next(until: deadline) else { return nil }
            try received(event)
        }
    }

    private func takeEvent() -> Event? {
        state.state.withLock { $0.takeEvent() }
    }

    private func received(_ event: Follower.Event) throws(LarderError) {
        switch event {
        case .interrupted(let error): state.state.withLock { $0.interrupted(error) }
        case .reply(.history(let reply, more: true)): state.state.withLock { $0.received(reply) }
        case .reply:
            cancel()
            throw .unexpectedReply
        }
    }
}

extension ChangeFeed.State {
    fileprivate mutating func interrupted(_ error: LarderError) {
        assembly = TransactionAssembly()
        wasInterrupted = true
        hasReportedCurrent = false
        events.append(.interrupted(error))
    }

    fileprivate mutating func received(_ reply: HistoryReply) {
        if wasInterrupted {
            wasInterrupted = false
            events.append(.resumed(after: received ?? reply.position))
        }
        for transaction in assembly.append(reply) { events.append(.transaction(transaction)) }
        received = reply.position
        if events.isEmpty { returned = received }
        if reply.isCurrent, !hasReportedCurrent {
            hasReportedCurrent = true
            events.append(.current(reply.position))
        }
    }

    fileprivate mutating func takeEvent() -> ChangeFeed.Event? {
        guard let event = events.popFirst() else { return nil }
        if case .transaction(let transaction) = event { returned = transaction.token }
        // The transactions after the last one of a reply were not selected.
        if events.isEmpty, let received { returned = received }
        return event
    }
}

extension ChangeFeed {
    /// The transactions as an asynchronous sequence.
    public var transactions: Transactions { Transactions(feed: self) }

    /// The events as an asynchronous sequence.
    public var events: Events { Events(feed: self) }

    /// See ``ChangeFeed/transactions``.
    public struct Transactions: AsyncSequence, Sendable {
        public typealias Element = HistoryTransaction
        public typealias Failure = LarderError

        let feed: ChangeFeed

        public func makeAsyncIterator() -> Iterator { Iterator(feed: feed) }

        public struct Iterator: AsyncIteratorProtocol {
            let feed: ChangeFeed

            public func next(
                isolation actor: isolated (any Actor)?
            ) async throws(LarderError) -> HistoryTransaction? {
                try await feed.next()
            }
        }
    }

    /// See ``ChangeFeed/events``.
    public struct Events: AsyncSequence, Sendable {
        public typealias Element = Event
        public typealias Failure = LarderError

        let feed: ChangeFeed

        public func makeAsyncIterator() -> Iterator { Iterator(feed: feed) }

        public struct Iterator: AsyncIteratorProtocol {
            let feed: ChangeFeed

            public func next(
                isolation actor: isolated (any Actor)?
            ) async throws(LarderError) -> Event? {
                try await feed.nextEvent()
            }
        }
    }
}

extension ChangeFeed: AsyncSequence {
    public typealias Element = HistoryTransaction
    public typealias Failure = LarderError

    public func makeAsyncIterator() -> Transactions.Iterator {
        transactions.makeAsyncIterator()
    }
}
