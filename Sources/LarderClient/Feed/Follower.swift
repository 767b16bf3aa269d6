import LarderModel
internal import LarderWire
import Synchronization

/// A request that the server answers until it is cancelled: over one connection, and if that is
/// lost, over the next one.
///
/// One thread or task at a time may use it.
final class Follower: Sendable {
    enum Event {
        case reply(Reply)
        /// The connection was lost. Reported once until the next reply.
        case interrupted(LarderError)
    }

    /// The number of replies that the server may send ahead of those that were taken.
    static let window: UInt32 = 16

    /// The request for a new connection. It has the window as its credit.
    private let request: @Sendable () throws(LarderError) -> Request
    private let state = Mutex(State())
    /// Keeps the connection alive.
    private let client: StoreClient

    private struct State {
        /// The connection and the request; nil while there is none.
        var request: (connection: Connection, id: UInt64)?
        var failed: Connection?
        var isInterrupted = false
        var hasEnded = false
    }

    private enum Step {
        case end
        /// Wait for the next reply.
        case wait(Connection, UInt64)
        case connect(replacing: Connection?)
    }

    init(
        client: StoreClient, request: @escaping @Sendable () throws(LarderError) -> Request
    ) {
        self.client = client
        self.request = request
    }

    deinit { cancel() }

    var hasEnded: Bool { state.withLock { $0.hasEnded } }

    func cancel() {
        let request = state.withLock { state in
            state.hasEnded = true
            defer { state.request = nil }
            return state.request
        }
        if let request { request.connection.cancel(request.id) }
    }

    // MARK: Waiting

    /// The next event, blocking.
    ///
    /// - Parameter deadline: nil is without a limit.
    /// - Returns: nil after ``cancel()``, or if there was no event in time.
    func next(until deadline: MonotonicInstant?) throws(LarderError) -> Event? {
        while true {
            let event: Event?
            switch step() {
            case .end: return nil
            case .wait(let connection, let id):
                let outcome = connection.outcome(
                    of: id, until: deadline ?? .after(.waitMax), isPolling: true)
                event = try self.event(outcome, connection)
            case .connect(let failed):
                event = try reconnected {
                    () throws(LarderError) in
                    try client.session.connection(replacing: failed, for: attempt(until: deadline))
                }
            }
            if let event { return event }
            if deadline?.isPast == true { return nil }
        }
    }

    /// The asynchronous form. It throws `cancelled` if the task is cancelled.
    func next(until deadline: MonotonicInstant?) async throws(LarderError) -> Event? {
        while true {
            let event: Event?
            switch step() {
            case .end: return nil
            case .wait(let connection, let id):
                let outcome = await connection.outcome(
                    of: id, until: deadline ?? .after(.waitMax), isPolling: true)
                event = try self.event(outcome, connection)
            case .connect(let failed):
                let connection: Result<Connection, LarderError>
                do throws(LarderError) {
                    connection = .success(
                        try await client.session.connection(
                            replacing: failed, for: attempt(until: deadline)))
                } catch {
                    connection = .failure(error)
                }
                event = try reconnected { () throws(LarderError) in try connection.get() }
            }
            if let event { return event }
            if deadline?.isPast == true { return nil }
        }
    }

    /// The first value that an event gives, blocking. An error in an event ends the follower.
    ///
    /// - Returns: nil after ``cancel()``, or if there was none in time.
    func next<Value>(
        timeout: Duration?, _ value: (Event) throws(LarderError) -> Value?
    ) throws(LarderError) -> Value? {
        let deadline = timeout.map { MonotonicInstant.after($0) }
        while let event = try next(until: deadline) {
            if let value = try taken(event, value) { return value }
        }
        return nil
    }

    /// The asynchronous form.
    func next<Value>(
        timeout: Duration?, _ value: (Event) throws(LarderError) -> Value?
    ) async throws(LarderError) -> Value? {
        let deadline = timeout.map { MonotonicInstant.after($0) }
        while let event = try await next(until: deadline) {
            if let value = try taken(event, value) { return value }
        }
        return nil
    }

    private func taken<Value>(
        _ event: Event, _ value: (Event) throws(LarderError) -> Value?
    ) throws(LarderError) -> Value? {
        do throws(LarderError) { return try value(event) } catch { throw end(error) }
    }

    private func step() -> Step {
        state.withLock { state in
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

    // MARK: Connections

    /// Sends the request over a connection, if there is one.
    private func reconnected(
        _ connection: () throws(LarderError) -> Connection
    ) throws(LarderError) -> Event? {
        do throws(LarderError) {
            try open(try connection())
            return nil
        } catch {
            // It waits for a server as long as its caller does.
            guard isReconnecting, [.connectionFailed, .unavailable, .timeout].contains(error.code)
            else { throw end(error) }
            return interrupted(error, nil)
        }
    }

    private func open(_ connection: Connection) throws(LarderError) {
        guard client.session.snapshot == nil else {
            throw LarderError(
                .unsupported, "a snapshot does not change, so it cannot be followed or observed",
                hint: "use the client that opened the snapshot")
        }
        let id = try connection.send(request(), .feed(window: Self.window), until: nil)
        let isWanted = state.withLock { state in
            guard !state.hasEnded else { return false }
            state.request = (connection, id)
            return true
        }
        if !isWanted { connection.cancel(id) }
    }

    private var isReconnecting: Bool {
        client.session.reconnectWait > .zero && !client.session.isClosed
    }

    private func end(_ error: LarderError) -> LarderError {
        cancel()
        return error
    }

    private func interrupted(_ error: LarderError, _ connection: Connection?) -> Event? {
        state.withLock { state in
            state.request = nil
            if let connection { state.failed = connection }
            defer { state.isInterrupted = true }
            return state.isInterrupted ? nil : .interrupted(error)
        }
    }

    private func event(
        _ outcome: Attempt.Outcome, _ connection: Connection
    ) throws(LarderError) -> Event? {
        switch outcome {
        case .timedOut: return nil
        case .cancelled:
            if hasEnded { return nil }
            throw end(LarderError(.cancelled, "the call was cancelled"))
        case .response(.lost(let error, _)):
            guard isReconnecting else { throw end(error) }
            return interrupted(error, connection)
        case .response(.reply(.failed(let error))):
            // A server that stops ends these requests first.
            guard error.code == .unavailable, isReconnecting else { throw end(error) }
            return interrupted(error, connection)
        case .response(.reply(let reply)):
            state.withLock { $0.isInterrupted = false }
            return .reply(reply)
        }
    }
}
