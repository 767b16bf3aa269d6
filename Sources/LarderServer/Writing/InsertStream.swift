import LarderModel
import LarderWire
import NIOCore

/// A stream of new objects: batches from the client, progress replies to it.
///
/// It belongs to its connection's event loop. Batches are processed one at a time, in the order of
/// their arrival: each is stored as a transaction, or, in an atomic stream, spooled until the last
/// has arrived and all are stored together. At most a few batches wait; their bytes are charged to
/// the connection's user until they are stored or spooled. An error that ends the stream drops the
/// waiting batches and is reported after the batch in progress, so the stored rows are those that
/// earlier replies have reported.
final class InsertStream: OpenRequest {
    private enum Item {
        /// A message of the client; one without rows only marks the end.
        case message(Batch?, isLast: Bool, bytes: Int)
        /// Later messages are ignored.
        case failure(LarderError)
    }

    private enum Phase {
        case receiving
        /// The spooled rows become a transaction.
        case storing
        case ended
    }

    let requestID: UInt64
    private let received: InsertionRequest
    private let writes: WriteQueue
    private unowned let connection: ConnectionHandler
    private let eventLoop: any EventLoop
    private let cancellation = ReadCancellation()
    /// Why an atomic stream was ended while its rows were being stored.
    private var reason: LarderError?
    /// When all rows must be stored; nil if only each batch has a limit.
    private let deadline: NIODeadline?
    private let spool: SpoolFile?
    private var spooledBytes = 0

    private var phase = Phase.receiving
    private var waiting: [Item] = []
    /// A batch is being stored or spooled.
    private var isBusy = false
    /// The last message or a failure has been received.
    private var isComplete = false
    private var hasFailed = false
    private var stored = InsertedRows()
    private var timer: Scheduled<Void>?
    private var progress: RepeatedTask?

    /// - Parameters:
    ///   - spool: The file for the rows of an atomic stream; nil if each batch is a transaction.
    ///   - time: The time in which all rows must be stored.
    init(
        requestID: UInt64, _ received: InsertionRequest, spool: SpoolFile?, time: Duration?,
        writes: WriteQueue, connection: ConnectionHandler, eventLoop: any EventLoop
    ) {
        self.requestID = requestID
        self.received = received
        self.spool = spool
        self.writes = writes
        self.connection = connection
        self.eventLoop = eventLoop
        deadline = time.map { .now() + TimeAmount($0) }
        guard let time else { return }
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        timer = eventLoop.scheduleTask(in: TimeAmount(time)) { bound.value.fail(Self.expired) }
    }

    // MARK: Messages of the client

    /// - Parameter bytes: The memory that the batch takes.
    func received(_ batch: Batch?, isLast: Bool, bytes: Int) {
        guard !isComplete else {
            if !hasFailed { fail(Self.malformed("rows were sent after the last")) }
            return
        }
        let ahead = waiting.count + (isBusy ? 1 : 0)
        guard ahead < Limits.unacknowledgedBatchesMax else {
            return fail(
                LarderError(
                    .resourceExhausted,
                    "more than \(Limits.unacknowledgedBatchesMax) batches of a stream were sent",
                    hint: "wait for the replies to earlier batches"))
        }
        do throws(LarderError) {
            if let batch {
                try received.insertion.check(batch, in: connection.services.store.schema)
            }
        } catch {
            return fail(error)
        }
        if let refusal = connection.quota.addRequest(bytes) { return fail(refusal) }
        isComplete = isLast
        waiting.append(.message(batch, isLast: isLast, bytes: bytes))
        step()
    }

    func cancel() { fail(Self.cancelled) }

    func inputEnded() {
        guard !isComplete else { return }
        fail(Self.malformed("the connection ended before the last rows"))
    }

    /// The server waits for no more rows.
    func serverStops() {
        guard !isComplete else { return }
        fail(ConnectionState.stopping)
    }

    /// A batch that the writer has is stored; an atomic stream that the writer has is cancelled
    /// unless it is stored already.
    func abandon() {
        timer?.cancel()
        progress?.cancel()
        cancellation.cancel()
        waiting = []
        phase = .ended
    }

    /// Ends with a failure after the batch in progress. An atomic stream then stores nothing.
    func fail(_ error: LarderError) {
        switch phase {
        case .ended: return
        case .storing:
            reason = reason ?? error
            cancellation.cancel()
        case .receiving where hasFailed: return
        case .receiving:
            dropWaiting()
            waiting = [.failure(error)]
            isComplete = true
            hasFailed = true
            step()
        }
    }

    private func dropWaiting() {
        for case .message(_, _, let bytes) in waiting { connection.requestEnded(bytes) }
        waiting = []
    }

    // MARK: One batch after the other

    private func step() {
        guard case .receiving = phase, !isBusy, !waiting.isEmpty else { return }
        switch waiting.removeFirst() {
        case .failure(let error): finish(.failed(error))
        case .message(let batch, let isLast, let bytes):
            guard let batch, batch.rowCount > 0 else {
                return processed(.success(InsertedRows()), isLast: isLast, bytes: bytes)
            }
            isBusy = true
            if let spool {
                append(batch, to: spool, isLast: isLast, bytes)
            } else {
                store(batch, isLast: isLast, bytes)
            }
        }
    }

    private func store(_ batch: Batch, isLast: Bool, _ bytes: Int) {
        let waitEnd = NIODeadline.now() + TimeAmount(connection.services.limits.writeWaitTimeMax)
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        let eventLoop = eventLoop
        writes.append(
            .insert(
                WriteQueue.Insert(
                    received, for: connection.user, firstRow: stored.rowCount,
                    rows: { OneBatch(batch) }, deadline: min(deadline ?? waitEnd, waitEnd)
                ) { outcome in
                    eventLoop.execute {
                        bound.value.isBusy = false
                        bound.value.processed(outcome, isLast: isLast, bytes: bytes)
                    }
                }))
    }

    /// On a thread of the pool, because a write to the disk may block.
    private func append(_ batch: Batch, to spool: SpoolFile, isLast: Bool, _ bytes: Int) {
        let start = spooledBytes
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        let eventLoop = eventLoop
        connection.services.pool.submit(
            in: .object(ObjectIdentifier(self)), of: connection.user
        ) { _ in
            let end = Result { () throws(LarderError) in try spool.append(batch, at: start) }
            eventLoop.execute {
                let stream = bound.value
                stream.isBusy = false
                if case .success(let end) = end { stream.spooledBytes = end }
                let count = Int64(batch.rowCount)
                stream.processed(
                    end.map { _ in InsertedRows(rowCount: count) }, isLast: isLast, bytes: bytes)
            }
        }
    }

    /// A batch has been stored or spooled.
    private func processed(
        _ outcome: Result<InsertedRows, LarderError>, isLast: Bool, bytes: Int
    ) {
        guard case .receiving = phase else { return }
        connection.requestEnded(bytes)
        switch outcome {
        case .failure(let error): return finish(.failed(connection.services.known(error)))
        case .success(let rows):
            stored.rowCount += rows.rowCount
            stored.batchCount += 1
            stored.keys = rows.keys
            stored.transaction = rows.transaction ?? stored.transaction
        }
        // A failure may follow the last batch.
        guard isLast, waiting.isEmpty else {
            send(.inserted(stored, more: true))
            return step()
        }
        if let spool { storeAll(spool) } else { finish(.inserted(stored, more: false)) }
    }

    // MARK: One transaction

    private func storeAll(_ spool: SpoolFile) {
        phase = .storing
        let (end, cancellation) = (spooledBytes, cancellation)
        let deadline = deadline ?? .now()
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        let eventLoop = eventLoop
        let interval = TimeAmount(connection.services.limits.progressInterval)
        progress = eventLoop.scheduleRepeatedTask(initialDelay: interval, delay: interval) { _ in
            bound.value.sendProgress()
        }
        writes.append(
            .insert(
                WriteQueue.Insert(
                    received, for: connection.user, firstRow: 0,
                    rows: {
                        SpooledRows(spool, end: end, deadline: deadline, cancellation: cancellation)
                    }, deadline: deadline
                ) { outcome in eventLoop.execute { bound.value.committed(outcome) } }))
    }

    private func sendProgress() {
        guard case .storing = phase else { return }
        var progress = stored
        progress.keys = []
        send(.inserted(progress, more: true))
    }

    /// The runs of keys per reply; more runs take several replies.
    private static let keyRunsMax = 250_000

    private func committed(_ outcome: Result<InsertedRows, LarderError>) {
        guard case .storing = phase else { return }
        switch outcome {
        case .failure(let error) where error.code == .cancelled: finish(.failed(reason ?? error))
        case .failure(let error): finish(.failed(connection.services.known(error)))
        case .success(var rows):
            rows.batchCount = stored.batchCount
            while rows.keys.count > Self.keyRunsMax {
                var part = rows
                part.keys = Array(rows.keys.prefix(Self.keyRunsMax))
                rows.keys.removeFirst(Self.keyRunsMax)
                send(.inserted(part, more: true))
            }
            finish(.inserted(rows, more: false))
        }
    }

    private func finish(_ reply: Reply) {
        dropWaiting()
        abandon()
        connection.streamEnded(requestID, .reply(reply))
    }

    private func send(_ reply: Reply) { connection.send(requestID, .reply(reply)) }

    static let cancelled = LarderError(.cancelled, "the stream was cancelled by its client")
    static let expired = LarderError(
        .timeout, "the rows of an insert stream were not stored in time",
        hint: "allow more time, or insert the rows in several transactions")

    private static func malformed(_ sentence: String) -> LarderError {
        LarderError(.malformedMessage, sentence)
    }
}

/// The rows of one batch.
private final class OneBatch: RowSource {
    private var batch: Batch?

    init(_ batch: Batch) { self.batch = batch }

    func next() -> Batch? {
        defer { batch = nil }
        return batch
    }
}
