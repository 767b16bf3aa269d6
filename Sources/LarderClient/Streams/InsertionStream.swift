import FoundationEssentials
public import LarderModel
internal import LarderWire
import Synchronization

/// A stream of new objects to the store, batch by batch, in several transactions or in one.
///
/// A few batches may be in flight; then `send(_:)` waits, so memory is bounded on both
/// sides. After an error or ``cancel()``, which releasing the stream also does, no more objects are
/// stored: none of a single transaction, and of several the number in ``progress``. A stream is not
/// repeated if its connection is lost. One thread or task at a time may use it.
public final class InsertionStream: Sendable {
    /// The size of a batch, in rows and in bytes, that keeps both sides busy.
    static let rowsMax = 5_000
    static let bytesMax = 1 << 20

    private let connection: Connection
    private let id: UInt64
    private let isAtomic: Bool
    private let requestTimeout: Duration
    private let state: Mutex<State>
    /// The stream keeps the client, and so its connection, alive.
    private let client: StoreClient

    private struct State {
        var progress = InsertedRows()
        var sentBatchCount: Int64 = 0
        var isLastSent = false
        var hasEnded = false
    }

    init(
        _ insertion: Insertion, over connection: Connection, timeout: Duration?,
        client: StoreClient
    ) throws(LarderError) {
        if client.session.snapshot != nil { throw Session.snapshotIsReadOnly }
        self.connection = connection
        self.client = client
        isAtomic = insertion.isAtomic
        requestTimeout = client.session.options.requestTimeout
        state = Mutex(State())
        var insertion = insertion
        if insertion.author.isEmpty { insertion.author = client.session.options.author }
        id = try connection.send(
            .insertRows(insertion), .insertion, until: timeout.map { .after($0) })
    }

    deinit { cancel() }

    /// The numbers of rows and batches that are certainly stored; for a single transaction that is
    /// not finished, the numbers that the server has received. Has the keys of these objects if the
    /// insertion wants identifiers.
    public var progress: InsertedRows { state.withLock { $0.progress } }

    /// Sends rows, blocking. Waits while too many batches are in flight.
    ///
    /// - Throws: the errors in these rows or in earlier ones, whose details have the indices of the
    ///   rows in the stream; `indeterminate` if the connection is lost and some rows may be stored
    ///   without an acknowledgement; `cancelled` after the end of the stream.
    public func send(_ batch: Batch) throws(LarderError) {
        while isFull { _ = try process(connection.outcome(of: id, until: deadline)) }
        try sendRows(batch, isLast: false)
    }

    /// The asynchronous form of `send(_:)`.
    ///
    /// - Throws: what the blocking form throws, and `cancelled` or `indeterminate` if the task is
    ///   cancelled.
    public func send(_ batch: Batch) async throws(LarderError) {
        while isFull { _ = try process(await connection.outcome(of: id, until: deadline)) }
        try sendRows(batch, isLast: false)
    }

    /// Waits, blocking, until the server has processed every batch that was sent.
    ///
    /// - Throws: as `send(_:)` does.
    public func settle() throws(LarderError) {
        while hasBatchesInFlight {
            _ = try process(connection.outcome(of: id, until: deadline))
        }
    }

    /// Ends the stream and waits, blocking, until every row is stored.
    ///
    /// - Returns: the number of all rows, and their keys if the insertion wants identifiers.
    /// - Throws: as `send(_:)` does.
    public func finish() throws(LarderError) -> InsertedRows {
        while isFull { _ = try process(connection.outcome(of: id, until: deadline)) }
        try sendRows(nil, isLast: true)
        while try !process(connection.outcome(of: id, until: deadline)) {}
        return progress
    }

    /// The asynchronous form of `finish()`.
    ///
    /// - Throws: what the blocking form throws, and `cancelled` or `indeterminate` if the task is
    ///   cancelled.
    public func finish() async throws(LarderError) -> InsertedRows {
        while isFull { _ = try process(await connection.outcome(of: id, until: deadline)) }
        try sendRows(nil, isLast: true)
        while try !process(await connection.outcome(of: id, until: deadline)) {}
        return progress
    }

    /// Ends the stream without storing more rows.
    public func cancel() {
        let isOpen = state.withLock { state in
            defer { state.hasEnded = true }
            return !state.hasEnded
        }
        if isOpen { connection.cancel(id) }
    }

    /// The server replies within the request timeout, if only to report that it is still storing.
    private var deadline: MonotonicInstant { .after(requestTimeout) }

    private var isFull: Bool {
        state.withLock {
            $0.sentBatchCount - $0.progress.batchCount >= Int64(Limits.unacknowledgedBatchesMax)
        }
    }

    private var hasBatchesInFlight: Bool {
        state.withLock { !$0.hasEnded && $0.sentBatchCount > $0.progress.batchCount }
    }

    private func sendRows(_ batch: Batch?, isLast: Bool) throws(LarderError) {
        guard !state.withLock({ $0.hasEnded }) else {
            throw LarderError(.cancelled, "the stream of rows has ended")
        }
        try connection.sendWithoutReply(.rows(requestID: id, batch, isLast: isLast))
        state.withLock { state in
            state.sentBatchCount += 1
            state.isLastSent = isLast
        }
    }

    /// - Returns: whether that was the last reply.
    private func process(_ outcome: Attempt.Outcome) throws(LarderError) -> Bool {
        switch outcome {
        case .response(.reply(.inserted(let rows, let more))):
            state.withLock { state in
                state.progress.rowCount = rows.rowCount
                state.progress.batchCount = rows.batchCount
                state.progress.transaction = rows.transaction
                for run in rows.keys { state.progress.append(run) }
                state.hasEnded = !more
            }
            return !more
        case .response(.reply(.failed(let error))):
            state.withLock { $0.hasEnded = true }
            throw error
        case .response(.reply):
            cancel()
            throw .unexpectedReply
        case .response(.lost(let error, _)): throw end(error.code, error.message)
        case .timedOut:
            throw end(.timeout, "the server did not reply within \(requestTimeout)")
        case .cancelled: throw end(.cancelled, "the call was cancelled")
        }
    }

    /// Ends the stream without a reply.
    ///
    /// - Returns: the error, with the state of the rows in flight.
    private func end(_ code: ErrorCode, _ message: String) -> LarderError {
        let state = self.state.withLock { state in
            state.hasEnded = true
            return state
        }
        let count = state.progress.rowCount
        let stored = count == 1 ? "1 row is stored" : "\(count) rows are stored"
        let isUncertain =
            isAtomic
            ? state.isLastSent : state.sentBatchCount > state.progress.batchCount
        switch (isUncertain, isAtomic) {
        case (false, true): return LarderError(code, "\(message); no rows are stored")
        case (false, false): return LarderError(code, "\(message); \(stored)")
        case (true, true):
            return LarderError(
                .indeterminate, "\(message); the rows may or may not be stored",
                hint: "check whether they are stored before you insert them again")
        case (true, false):
            return LarderError(
                .indeterminate,
                "\(message); \(stored), and possibly some after",
                hint: "count the stored rows before you insert any again")
        }
    }
}

extension InsertedRows {
    /// Appends keys. Consecutive runs, as those of consecutive transactions are, become one.
    fileprivate mutating func append(_ run: KeyRange) {
        guard let end = keys.indices.last, keys[end].count <= .max - run.count,
            keys[end].first &+ Int64(keys[end].count) == run.first
        else { return keys.append(run) }
        keys[end].count += run.count
    }
}
