import FoundationEssentials
public import LarderModel
import LarderWire
import Synchronization

/// New objects on their way to the store, batch by batch, as any number of transactions or as one.
///
/// A few batches may be under way; then ``send(_:)-(Batch)`` waits, so memory stays bounded on both
/// sides. After an error, or ``cancel()``, which also happens when the stream is dropped, nothing
/// more is stored: of one transaction nothing, of several what ``progress`` says. Streams are not
/// repeated when a connection is lost. To be used by one thread or task at a time.
public final class InsertionStream: Sendable {
    /// Batches of about so many rows, or bytes, keep both sides busy.
    static let rowsMax = 5_000
    static let bytesMax = 1 << 20

    private let connection: Connection
    private let id: UInt64
    private let isAtomic: Bool
    private let requestTimeout: Duration
    private let state: Mutex<State>
    /// Keeps the client, and so its connection, for as long as the stream is written.
    private let client: StoreClient

    private struct State {
        var progress = InsertedRows()
        var sentBatchCount: Int64 = 0
        var lastIsSent = false
        var hasEnded = false
    }

    init(
        _ insertion: Insertion, over connection: Connection, timeout: Duration?,
        client: StoreClient
    ) throws(LarderError) {
        self.connection = connection
        self.client = client
        isAtomic = insertion.isAtomic
        requestTimeout = client.session.options.requestTimeout
        state = Mutex(State())
        var insertion = insertion
        if insertion.author.isEmpty { insertion.author = client.session.options.author }
        id = try connection.ask(
            .insertRows(insertion), .insertion, until: timeout.map { .after($0) })
    }

    deinit { cancel() }

    /// How much is stored for certain: rows and batches, of several transactions; of one that is
    /// not finished, what the server has received. Keys are those of all objects so far, if wanted.
    public var progress: InsertedRows { state.withLock { $0.progress } }

    /// Sends rows; waits while too many are under way.
    ///
    /// - Throws: what the server found wrong with these rows or some before, with the places of
    ///   rows in the stream in its details; `indeterminate` if the connection was lost and rows
    ///   may have been stored of which nothing was heard.
    public func send(_ batch: Batch) throws(LarderError) {
        while isFull { _ = try absorb(connection.outcome(of: id, until: deadline)) }
        try tell(batch, isLast: false)
    }

    public func send(_ batch: Batch) async throws(LarderError) {
        while isFull { _ = try absorb(await connection.outcome(of: id, until: deadline)) }
        try tell(batch, isLast: false)
    }

    /// Waits until the server is done with all that was sent; what it stored of it is stored.
    public func settle() throws(LarderError) {
        while isOwedAnswers { _ = try absorb(connection.outcome(of: id, until: deadline)) }
    }

    /// Waits until all is stored.
    public func finish() throws(LarderError) -> InsertedRows {
        while isFull { _ = try absorb(connection.outcome(of: id, until: deadline)) }
        try tell(nil, isLast: true)
        while try !absorb(connection.outcome(of: id, until: deadline)) {}
        return progress
    }

    public func finish() async throws(LarderError) -> InsertedRows {
        while isFull { _ = try absorb(await connection.outcome(of: id, until: deadline)) }
        try tell(nil, isLast: true)
        while try !absorb(await connection.outcome(of: id, until: deadline)) {}
        return progress
    }

    /// Ends the stream where it stands.
    public func cancel() {
        let isOpen = state.withLock { state in
            defer { state.hasEnded = true }
            return !state.hasEnded
        }
        if isOpen { connection.cancel(id) }
    }

    /// Each answer, also that rows are still being stored, comes within the time of a request.
    private var deadline: Moment { .after(requestTimeout) }

    private var isFull: Bool {
        state.withLock {
            $0.sentBatchCount - $0.progress.batchCount >= Int64(Limits.batchesAheadMax)
        }
    }

    private var isOwedAnswers: Bool {
        state.withLock { !$0.hasEnded && $0.sentBatchCount > $0.progress.batchCount }
    }

    private func tell(_ batch: Batch?, isLast: Bool) throws(LarderError) {
        guard !state.withLock({ $0.hasEnded }) else {
            throw LarderError(.cancelled, "the stream of rows has ended")
        }
        try connection.tell(.rows(requestID: id, batch, isLast: isLast))
        state.withLock { state in
            state.sentBatchCount += 1
            state.lastIsSent = isLast
        }
    }

    /// - Returns: Whether that was the last answer.
    private func absorb(_ outcome: Attempt.Outcome) throws(LarderError) -> Bool {
        switch outcome {
        case .answered(.reply(.inserted(let rows, let more))):
            state.withLock { state in
                state.progress.rowCount = rows.rowCount
                state.progress.batchCount = rows.batchCount
                state.progress.transaction = rows.transaction
                for run in rows.keys { state.progress.add(run) }
                state.hasEnded = !more
            }
            return !more
        case .answered(.reply(.failed(let error))):
            state.withLock { $0.hasEnded = true }
            throw error
        case .answered(.reply):
            cancel()
            throw .answerMismatch
        case .answered(.lost(let error, _)): throw lost(error.code, error.message)
        case .timedOut:
            throw lost(.timeout, "the server did not answer within \(requestTimeout)")
        case .cancelled: throw lost(.cancelled, "the call was cancelled")
        }
    }

    /// No answer will come, and what is under way may be stored or not.
    private func lost(_ code: ErrorCode, _ message: String) -> LarderError {
        let state = self.state.withLock { state in
            state.hasEnded = true
            return state
        }
        let count = state.progress.rowCount
        let isUncertain =
            isAtomic
            ? state.lastIsSent : state.sentBatchCount > state.progress.batchCount
        switch (isUncertain, isAtomic) {
        case (false, true): return LarderError(code, "\(message); nothing is stored")
        case (false, false): return LarderError(code, "\(message); \(count) rows are stored")
        case (true, true):
            return LarderError(
                .indeterminate, "\(message); the rows may or may not be stored",
                hint: "look whether they are before repeating them")
        case (true, false):
            return LarderError(
                .indeterminate, "\(message); \(count) rows are stored, and perhaps some after them",
                hint: "look how many there are before repeating any")
        }
    }
}

extension InsertedRows {
    /// Adds keys behind those so far; transactions that follow one another are one run.
    fileprivate mutating func add(_ run: KeyRun) {
        guard let end = keys.indices.last, keys[end].count <= .max - run.count,
            keys[end].first &+ Int64(keys[end].count) == run.first
        else { return keys.append(run) }
        keys[end].count += run.count
    }
}

extension Connection {
    /// Sends a request that has no answer of its own, or queues it behind what the socket has not
    /// taken yet.
    ///
    /// - Throws: `frameTooLong`, and what else cannot be encoded.
    fileprivate func tell(_ request: Request) throws(LarderError) {
        let (id, codec) = update { state in
            (state.exchange.makeID(), state.codecs.popLast() ?? WireCodec())
        }
        var frame: [UInt8] = []
        try codec.encode(RequestEnvelope(id: id, request: request), into: &frame)
        try checkLength(of: frame)
        update { state in
            state.codecs.append(codec)
            state.outbox.append(Outbox.Frame(id: id, bytes: frame))
            flush(&state)
        }
    }
}
