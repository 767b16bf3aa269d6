import LarderModel
internal import LarderWire
import Synchronization

/// The source of a stream's batches: a query on a connection.
///
/// Until the first batch is taken, a lost connection is replaced and the query is sent again.
final class StreamSource: Sendable {
    /// The number of batches that the server may send ahead of the ones that were taken.
    static let window: UInt32 = 4

    private let session: Session
    private let request: Request
    /// The end of the whole stream; nil for none.
    private let end: MonotonicInstant?
    private let state = Mutex(State.connecting)

    private enum State {
        /// The stream waits for a connection, so a cancellation sends nothing to a server.
        case connecting
        /// - hasBegun: Whether a batch was taken.
        case open(Connection, UInt64, hasBegun: Bool)
        case ended
    }

    private enum Step {
        case batch(Batch)
        case end
        /// Send the query again over another connection.
        case retry
    }

    private init(_ query: Query, _ parameters: QueryParameters, _ session: Session)
        throws(LarderError)
    {
        self.session = session
        end = session.options.streamTimeout.map { .after($0) }
        request = .query(try QueryRequest(query, parameters, credit: StreamSource.window))
    }

    /// Sends the query.
    static func open(
        _ query: Query, _ parameters: QueryParameters, _ session: Session
    ) throws(LarderError) -> StreamSource {
        let source = try StreamSource(query, parameters, session)
        try source.open(replacing: nil, session.attempt(isWrite: false))
        return source
    }

    static func open(
        _ query: Query, _ parameters: QueryParameters, _ session: Session
    ) async throws(LarderError) -> StreamSource {
        let source = try StreamSource(query, parameters, session)
        try await source.open(replacing: nil, session.attempt(isWrite: false))
        return source
    }

    func next() throws(LarderError) -> Batch? {
        var attempt = try attempt()
        while case .open(let connection, let id, _) = state.withLock({ $0 }) {
            let outcome = connection.outcome(of: id, until: deadline(of: attempt))
            switch try step(after: outcome, id, &attempt) {
            case .batch(let batch): return batch
            case .end: return nil
            case .retry: try open(replacing: connection, attempt)
            }
        }
        return nil
    }

    func next() async throws(LarderError) -> Batch? {
        var attempt = try attempt()
        while case .open(let connection, let id, _) = state.withLock({ $0 }) {
            let outcome = await connection.outcome(of: id, until: deadline(of: attempt))
            switch try step(after: outcome, id, &attempt) {
            case .batch(let batch): return batch
            case .end: return nil
            case .retry: try await open(replacing: connection, attempt)
            }
        }
        return nil
    }

    /// The attempt of the next batch.
    ///
    /// - Throws: `timeout` if the time of the whole stream is over, even if batches have arrived.
    private func attempt() throws(LarderError) -> Attempt {
        guard let end, let timeout = session.options.streamTimeout, end.isPast,
            case .open = state.withLock({ $0 })
        else { return session.attempt(isWrite: false) }
        cancel()
        throw LarderError(
            .timeout, "the result was not complete within \(timeout)",
            hint: "request less at once, or set a longer time limit")
    }

    private func deadline(of attempt: Attempt) -> MonotonicInstant {
        end.map { min($0, attempt.deadline) } ?? attempt.deadline
    }

    func cancel() {
        let previous = state.withLock { state in
            defer { state = .ended }
            return state
        }
        if case .open(let connection, let id, _) = previous { connection.cancel(id) }
    }

    private func open(replacing failed: Connection?, _ attempt: Attempt) throws(LarderError) {
        startConnecting()
        let connection = try session.connection(replacing: failed, for: attempt)
        try open(over: connection)
    }

    private func open(replacing failed: Connection?, _ attempt: Attempt) async throws(LarderError) {
        startConnecting()
        let connection = try await session.connection(replacing: failed, for: attempt)
        try open(over: connection)
    }

    private func startConnecting() {
        state.withLock { state in
            if case .open = state { state = .connecting }
        }
    }

    /// Sends the query without a time limit, because the caller may read the stream for any time.
    private func open(over connection: Connection) throws(LarderError) {
        let id = try connection.send(
            request, .stream(window: StreamSource.window), until: nil,
            in: session.snapshotID(for: request))
        let isWanted = state.withLock { state -> Bool in
            guard case .connecting = state else { return false }
            state = .open(connection, id, hasBegun: false)
            return true
        }
        if !isWanted { connection.cancel(id) }
    }

    private func step(
        after outcome: Attempt.Outcome, _ id: UInt64, _ attempt: inout Attempt
    ) throws(LarderError) -> Step {
        let now = state.withLock { $0 }
        // Another thread may have cancelled the stream, or read it to its end.
        guard case .open(let connection, let current, let hasBegun) = now, current == id else {
            return .end
        }
        let reply: Reply?
        do throws(LarderError) {
            reply =
                try hasBegun
                ? continuation(outcome, &attempt) : attempt.resolve(outcome, now: .now)
        } catch {
            state.withLock { $0 = .ended }
            throw error
        }
        guard let reply else { return .retry }
        let (batch, more): (Batch?, Bool)
        do throws(LarderError) {
            (batch, more) = try rows(in: reply)
        } catch {
            cancel()
            throw error
        }
        state.withLock { $0 = more ? .open(connection, id, hasBegun: true) : .ended }
        return batch.map { .batch($0) } ?? .end
    }

    /// The batch of a reply, and whether another reply follows. The last reply may have no batch.
    private func rows(in reply: Reply) throws(LarderError) -> (Batch?, more: Bool) {
        guard case .encodedBatches(let rows, let more) = reply else { throw .unexpectedReply }
        let batches = try rows.batches()
        guard batches.count <= 1, !more || batches.count == 1 else { throw .unexpectedReply }
        return (batches.first, more)
    }

    /// The next reply of a stream whose first batch was taken. Such a query is not sent again,
    /// because the second result may differ from the part that the caller has.
    private func continuation(
        _ outcome: Attempt.Outcome, _ attempt: inout Attempt
    ) throws(LarderError) -> Reply {
        switch outcome {
        case .response(.lost(let error, _)):
            throw LarderError(
                error.code, "\(error.message) before the last batch of a stream",
                hint: "run the query again")
        case .response(.reply(.failed(let error))): throw error
        default:
            guard let reply = try attempt.resolve(outcome, now: .now) else {
                throw .serverClosed
            }
            return reply
        }
    }
}
