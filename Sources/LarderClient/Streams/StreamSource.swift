import LarderModel
import LarderWire
import Synchronization

/// Where a stream's batches come from: a request on a connection, and whether it may be repeated.
///
/// Until the first batch has been taken, a lost connection is replaced and the query asked again.
final class StreamSource: Sendable {
    /// How many batches the server may be ahead of those taken.
    static let window: UInt32 = 4

    private let session: Session
    private let request: Request
    private let place = Mutex(Place.asking)

    private enum Place {
        /// A connection is waited for; whoever cancels meanwhile finds nothing to tell a server.
        case asking
        /// - hasBegun: a batch has been taken.
        case asked(Connection, UInt64, hasBegun: Bool)
        case ended
    }

    private enum Step {
        case batch(Batch)
        case end
        /// Ask again, over another connection.
        case again
    }

    private init(_ query: Query, _ parameters: QueryParameters, _ session: Session)
        throws(LarderError)
    {
        self.session = session
        request = .query(try QueryRequest(query, parameters, credit: StreamSource.window))
    }

    /// Asks the query.
    static func open(
        _ query: Query, _ parameters: QueryParameters, _ session: Session
    ) throws(LarderError) -> StreamSource {
        let source = try StreamSource(query, parameters, session)
        try source.ask(replacing: nil, session.attempt(isWrite: false))
        return source
    }

    static func open(
        _ query: Query, _ parameters: QueryParameters, _ session: Session
    ) async throws(LarderError) -> StreamSource {
        let source = try StreamSource(query, parameters, session)
        try await source.ask(replacing: nil, session.attempt(isWrite: false))
        return source
    }

    func next() throws(LarderError) -> Batch? {
        var attempt = session.attempt(isWrite: false)
        while case .asked(let connection, let id, _) = place.withLock({ $0 }) {
            let outcome = connection.outcome(of: id, until: attempt.deadline)
            switch try step(after: outcome, id, &attempt) {
            case .batch(let batch): return batch
            case .end: return nil
            case .again: try ask(replacing: connection, attempt)
            }
        }
        return nil
    }

    func next() async throws(LarderError) -> Batch? {
        var attempt = session.attempt(isWrite: false)
        while case .asked(let connection, let id, _) = place.withLock({ $0 }) {
            let outcome = await connection.outcome(of: id, until: attempt.deadline)
            switch try step(after: outcome, id, &attempt) {
            case .batch(let batch): return batch
            case .end: return nil
            case .again: try await ask(replacing: connection, attempt)
            }
        }
        return nil
    }

    func cancel() {
        let ended = place.withLock { place in
            defer { place = .ended }
            return place
        }
        if case .asked(let connection, let id, _) = ended { connection.cancel(id) }
    }

    private func ask(replacing failed: Connection?, _ attempt: Attempt) throws(LarderError) {
        startAsking()
        let connection = try session.connection(replacing: failed, for: attempt)
        try ask(over: connection)
    }

    private func ask(replacing failed: Connection?, _ attempt: Attempt) async throws(LarderError) {
        startAsking()
        let connection = try await session.connection(replacing: failed, for: attempt)
        try ask(over: connection)
    }

    private func startAsking() {
        place.withLock { place in
            if case .asked = place { place = .asking }
        }
    }

    /// A stream lasts as long as its reader likes, so the server is not told of a time limit.
    private func ask(over connection: Connection) throws(LarderError) {
        let id = try connection.ask(
            request, .stream(window: StreamSource.window), until: nil)
        let isWanted = place.withLock { place -> Bool in
            guard case .asking = place else { return false }
            place = .asked(connection, id, hasBegun: false)
            return true
        }
        if !isWanted { connection.cancel(id) }
    }

    private func step(
        after outcome: Attempt.Outcome, _ id: UInt64, _ attempt: inout Attempt
    ) throws(LarderError) -> Step {
        let now = place.withLock { $0 }
        // Cancelled, or read to its end, by another thread meanwhile.
        guard case .asked(let connection, let current, let hasBegun) = now, current == id else {
            return .end
        }
        let reply: Reply?
        do throws(LarderError) {
            reply = try hasBegun ? goOn(outcome, &attempt) : attempt.settle(outcome, now: .now)
        } catch {
            place.withLock { $0 = .ended }
            throw error
        }
        guard let reply else { return .again }
        let (batch, more): (Batch?, Bool)
        do throws(LarderError) {
            (batch, more) = try rows(in: reply)
        } catch {
            cancel()
            throw error
        }
        place.withLock { $0 = more ? .asked(connection, id, hasBegun: true) : .ended }
        return batch.map { .batch($0) } ?? .end
    }

    /// The one batch of a reply, and whether another reply follows; the last may have none.
    private func rows(in reply: Reply) throws(LarderError) -> (Batch?, more: Bool) {
        guard case .encodedBatches(let rows, let more) = reply else { throw .answerMismatch }
        let batches = try rows.batches()
        guard batches.count <= 1, !more || batches.count == 1 else { throw .answerMismatch }
        return (batches.first, more)
    }

    /// A stream in progress cannot be asked again: its reader has had a part of another answer.
    private func goOn(
        _ outcome: Attempt.Outcome, _ attempt: inout Attempt
    ) throws(LarderError) -> Reply {
        switch outcome {
        case .answered(.lost(let error, _)):
            throw LarderError(
                error.code, "\(error.message) before the last batch of a stream",
                hint: "ask the query again")
        case .answered(.reply(.failed(let error))): throw error
        default:
            guard let reply = try attempt.settle(outcome, now: .now) else {
                throw .serverClosed
            }
            return reply
        }
    }
}
