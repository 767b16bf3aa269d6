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

    /// The number of replies that the server may send ahead of those that were taken.
    private static let window: UInt32 = 16

    private let fetch: HistoryFetch
    private let startsNow: Bool
    private let state = Mutex(State())
    /// The feed keeps the client, and so its connection, alive.
    private let client: StoreClient

    fileprivate struct State {
        /// The connection and the request; nil while there is none.
        var request: (connection: Connection, id: UInt64)?
        var failed: Connection?
        var assembly = TransactionAssembly()
        /// The events that have been received and not been returned.
        var events: [Event] = []
        /// Where to resume: after the last transaction that was received completely.
        var received: HistoryToken?
        /// After the last transaction that was returned.
        var returned: HistoryToken?
        var wasInterrupted = false
        var hasReportedCurrent = false
        var hasEnded = false
    }

    private enum Step {
        case event(Event)
        case end
        /// Wait for the next reply.
        case wait(Connection, UInt64)
        case connect(replacing: Connection?)
    }

    init(_ fetch: HistoryFetch, startsNow: Bool, client: StoreClient) {
        self.fetch = fetch
        self.startsNow = startsNow
        self.client = client
    }

    deinit { cancel() }

    /// The position after the last transaction that was returned; before the first one, where the
    /// feed begins. nil until the server has replied to a feed without a token.
    public var position: HistoryToken? { state.withLock { $0.returned } ?? fetch.after }

    /// Ends the feed; ``next()-()`` returns nil from then on. Any thread may call it; a call that
    /// waits returns nil when the server has replied.
    public func cancel() {
        let request = state.withLock { state in
            state.hasEnded = true
            state.events = []
            defer { state.request = nil }
            return state.request
        }
        if let request { request.connection.cancel(request.id) }
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

    /// The asynchronous form of ``next()-()``.
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
    /// - Throws: as ``next()-()`` does.
    public func nextEvent(timeout: Duration? = nil) throws(LarderError) -> Event? {
        let deadline = timeout.map { MonotonicInstant.after($0) }
        while true {
            switch step() {
            case .event(let event): return event
            case .end: return nil
            case .wait(let connection, let id):
                let outcome = connection.outcome(
                    of: id, until: deadline ?? .after(.waitMax), isPolling: true)
                try received(outcome, connection)
            case .connect(let failed):
                do throws(LarderError) {
                    let attempt = attempt(until: deadline)
                    try open(client.session.connection(replacing: failed, for: attempt))
                } catch {
                    try failedToConnect(error)
                }
            }
            if deadline?.isPast == true, !hasEvents { return nil }
        }
    }

    /// The asynchronous form of ``nextEvent(timeout:)-(_)``.
    ///
    /// - Throws: what the blocking form throws, and `cancelled` if the task is cancelled.
    public func nextEvent(timeout: Duration? = nil) async throws(LarderError) -> Event? {
        let deadline = timeout.map { MonotonicInstant.after($0) }
        while true {
            switch step() {
            case .event(let event): return event
            case .end: return nil
            case .wait(let connection, let id):
                let outcome = await connection.outcome(
                    of: id, until: deadline ?? .after(.waitMax), isPolling: true)
                try received(outcome, connection)
            case .connect(let failed):
                do throws(LarderError) {
                    let attempt = attempt(until: deadline)
                    try open(await client.session.connection(replacing: failed, for: attempt))
                } catch {
                    try failedToConnect(error)
                }
            }
            if deadline?.isPast == true, !hasEvents { return nil }
        }
    }

    private var hasEvents: Bool { state.withLock { !$0.events.isEmpty } }

    // MARK: Steps

    private func step() -> Step {
        state.withLock { state in
            if !state.events.isEmpty { return .event(state.takeEvent()) }
            if state.hasEnded { return .end }
            if let (connection, id) = state.request { return .wait(connection, id) }
            return .connect(replacing: state.failed)
        }
    }

    private func attempt(until deadline: MonotonicInstant?) -> Attempt {
        let session = client.session
        return Attempt(
            isWrite: false, timeout: deadline?.remaining ?? session.options.requestTimeout,
            reconnectWait: session.reconnectWait, now: .now)
    }

    /// Sends the request over a connection.
    private func open(_ connection: Connection) throws(LarderError) {
        let resumed = state.withLock { $0.received }
        var fetch = fetch
        if let resumed { fetch.after = resumed }
        let request = HistoryRequest(
            fetch, startsNow: startsNow, credit: Self.window, follows: true)
        let id = try connection.send(.history(request), .feed(window: Self.window), until: nil)
        let isWanted = state.withLock { state in
            guard !state.hasEnded else { return false }
            state.request = (connection, id)
            state.assembly = TransactionAssembly()
            return true
        }
        if !isWanted { connection.cancel(id) }
    }

    /// A feed waits for a server as long as its caller does.
    private func failedToConnect(_ error: LarderError) throws(LarderError) {
        guard client.session.reconnectWait > .zero, !client.session.isClosed,
            [.connectionFailed, .unavailable, .timeout].contains(error.code)
        else { throw end(error) }
        interrupted(error, nil)
    }

    private func end(_ error: LarderError) -> LarderError {
        cancel()
        return error
    }

    /// Reports the loss of a connection once.
    private func interrupted(_ error: LarderError, _ connection: Connection?) {
        state.withLock { state in
            state.request = nil
            if let connection { state.failed = connection }
            state.hasReportedCurrent = false
            guard !state.wasInterrupted else { return }
            state.wasInterrupted = true
            state.events.append(.interrupted(error))
        }
    }

    private func received(
        _ outcome: Attempt.Outcome, _ connection: Connection
    ) throws(LarderError) {
        switch outcome {
        case .timedOut: break
        case .cancelled:
            // Either `cancel()` was called during the wait, or the task was cancelled.
            if state.withLock({ $0.hasEnded }) { return }
            throw end(LarderError(.cancelled, "the call was cancelled"))
        case .response(.lost(let error, _)):
            guard client.session.reconnectWait > .zero, !client.session.isClosed else {
                throw end(error)
            }
            interrupted(error, connection)
        case .response(.reply(.failed(let error))):
            // A server that stops ends the feeds first.
            guard error.code == .unavailable, client.session.reconnectWait > .zero else {
                throw end(error)
            }
            interrupted(error, connection)
        case .response(.reply(.history(let reply, more: true))):
            state.withLock { $0.received(reply) }
        case .response(.reply): throw end(.unexpectedReply)
        }
    }
}

extension ChangeFeed.State {
    fileprivate mutating func received(_ reply: HistoryReply) {
        if wasInterrupted {
            wasInterrupted = false
            events.append(.resumed(after: received ?? reply.position))
        }
        events += assembly.append(reply).map { .transaction($0) }
        received = reply.position
        if events.isEmpty { returned = received }
        if reply.isCurrent, !hasReportedCurrent {
            hasReportedCurrent = true
            events.append(.current(reply.position))
        }
    }

    fileprivate mutating func takeEvent() -> ChangeFeed.Event {
        let event = events.removeFirst()
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
