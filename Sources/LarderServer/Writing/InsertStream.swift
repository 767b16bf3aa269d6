import LarderModel
import LarderWire
import NIOCore

/// One stream of new objects that a client sends: batches in, and how far it has come out.
///
/// It lives on its connection's event loop. Batches are dealt with in the order in which they came,
/// one at a time: stored as a transaction each, or, where the stream is to be one transaction,
/// spooled and stored together once the last has come. No more than a few may wait, and their bytes
/// are on the books of the connection's user until the store or the disk has them. What ends it
/// early takes its place in that order, so that what was told to be stored before is all that is.
final class InsertStream {
    private enum Item {
        case batch(Batch?, isLast: Bool, frameBytes: Int)
        /// Nothing that comes later is looked at.
        case failure(LarderError)
    }

    private enum Phase {
        case receiving
        /// The rows of a spool become a transaction.
        case storing
        case ended
    }

    let requestID: UInt64
    private let received: ReceivedInsertion
    private let writes: WriteQueue
    private unowned let connection: ConnectionHandler
    private let eventLoop: any EventLoop
    private let cancellation = ReadCancellation()
    /// When all of it must be stored; nil leaves it time for ever, batch by batch.
    private let deadline: ContinuousClock.Instant?
    private let spool: SpoolFile?
    private var spooledBytes = 0

    private var phase = Phase.receiving
    private var waiting: [Item] = []
    /// A batch is with the writer or with the disk.
    private var isBusy = false
    /// After the last batch, or a failure, nothing is taken any more.
    private var isComplete = false
    private var hasFailed = false
    private var done = InsertedRows()
    private var timer: Scheduled<Void>?
    private var progress: RepeatedTask?

    /// - Parameters:
    ///   - spool: Where batches wait of a stream that is one transaction.
    ///   - time: Until all of it must be stored.
    init(
        requestID: UInt64, _ received: ReceivedInsertion, spool: SpoolFile?, time: Duration?,
        writes: WriteQueue, connection: ConnectionHandler, eventLoop: any EventLoop
    ) {
        self.requestID = requestID
        self.received = received
        self.spool = spool
        self.writes = writes
        self.connection = connection
        self.eventLoop = eventLoop
        deadline = time.map { ContinuousClock.now.advanced(by: $0) }
        guard let time else { return }
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        timer = eventLoop.scheduleTask(in: TimeAmount(time)) { bound.value.end(Self.expired) }
    }

    // MARK: What comes from the client

    func received(_ batch: Batch?, isLast: Bool, frameBytes: Int) {
        guard !isComplete else {
            if !hasFailed { end(Self.malformed("rows came after the last")) }
            return
        }
        let ahead = waiting.count + (isBusy ? 1 : 0)
        guard ahead < Limits.batchesAheadMax else {
            return end(
                LarderError(
                    .resourceExhausted,
                    "more than \(Limits.batchesAheadMax) batches of a stream were sent ahead",
                    hint: "wait for the answers to those before"))
        }
        do throws(LarderError) {
            if let batch {
                try received.insertion.check(batch, in: connection.services.store.schema)
            }
        } catch {
            return end(error)
        }
        guard connection.bookWrite(frameBytes) else { return end(ConnectionHandler.userExhausted) }
        isComplete = isLast
        waiting.append(.batch(batch, isLast: isLast, frameBytes: frameBytes))
        step()
    }

    /// The client wants no more of it.
    func cancel() { end(Self.cancelled) }

    /// The client will send nothing any more.
    func inputEnded() {
        guard !isComplete else { return }
        end(Self.malformed("the connection ended before the last rows"))
    }

    /// The server waits for no more rows.
    func serverStops() {
        guard !isComplete else { return }
        end(ConnectionState.stopping)
    }

    /// Ends without an answer: the connection has gone. What is with the writer is stored, or, of
    /// one transaction, given up if it is not stored yet.
    func abandon() {
        timer?.cancel()
        progress?.cancel()
        cancellation.cancel()
        waiting = []
        phase = .ended
    }

    /// Ends with a failure, once what is under way is done; of one transaction nothing is stored.
    private func end(_ error: LarderError) {
        switch phase {
        case .ended: return
        case .storing: cancellation.cancel()
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
        for case .batch(_, _, let bytes) in waiting { connection.writeLeft(bytes) }
        waiting = []
    }

    // MARK: One after the other

    private func step() {
        guard case .receiving = phase, !isBusy, !waiting.isEmpty else { return }
        switch waiting.removeFirst() {
        case .failure(let error): finish(.failed(error))
        case .batch(let batch, let isLast, let bytes):
            guard let batch, batch.rowCount > 0 else {
                return done(Self.nothing, isLast: isLast, bytes: bytes)
            }
            isBusy = true
            if let spool {
                put(batch, into: spool, isLast: isLast, bytes)
            } else {
                store(batch, isLast: isLast, bytes)
            }
        }
    }

    private static let nothing = Result<InsertedRows, LarderError>.success(InsertedRows())

    private func store(_ batch: Batch, isLast: Bool, _ bytes: Int) {
        let limits = connection.services.limits
        let waitEnd = ContinuousClock.now.advanced(by: limits.writeWaitTimeMax)
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        let eventLoop = eventLoop
        writes.insert(
            WriteQueue.Insert(
                received, firstRow: done.rowCount, rows: { OneBatch(batch) },
                deadline: min(deadline ?? waitEnd, waitEnd)
            ) { outcome in
                eventLoop.execute {
                    bound.value.isBusy = false
                    bound.value.done(outcome, isLast: isLast, bytes: bytes)
                }
            })
    }

    /// A disk may make who writes to it wait, so a thread of the pool does that.
    private func put(_ batch: Batch, into spool: SpoolFile, isLast: Bool, _ bytes: Int) {
        let start = spooledBytes
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        let eventLoop = eventLoop
        connection.services.pool.submit(for: ObjectIdentifier(connection)) {
            let end = Result { () throws(LarderError) in try spool.append(batch, at: start) }
            eventLoop.execute {
                let stream = bound.value
                stream.isBusy = false
                if case .success(let end) = end { stream.spooledBytes = end }
                let count = Int64(batch.rowCount)
                stream.done(
                    end.map { _ in InsertedRows(rowCount: count) }, isLast: isLast, bytes: bytes)
            }
        }
    }

    /// The server is done with a batch.
    private func done(
        _ outcome: Result<InsertedRows, LarderError>, isLast: Bool, bytes: Int
    ) {
        guard case .receiving = phase else { return }
        connection.writeLeft(bytes)
        switch outcome {
        case .failure(let error): return finish(.failed(error))
        case .success(let rows):
            done.rowCount += rows.rowCount
            done.batchCount += 1
            done.keys = rows.keys
            done.transaction = rows.transaction ?? done.transaction
        }
        // A failure that waits comes after it.
        guard isLast, waiting.isEmpty else {
            connection.send(requestID, .inserted(done, more: true))
            return step()
        }
        if let spool { storeAll(spool) } else { finish(.inserted(done, more: false)) }
    }

    // MARK: One transaction

    private func storeAll(_ spool: SpoolFile) {
        phase = .storing
        let (end, cancellation) = (spooledBytes, cancellation)
        let deadline = deadline ?? .now
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        let eventLoop = eventLoop
        let interval = TimeAmount(connection.services.limits.progressInterval)
        progress = eventLoop.scheduleRepeatedTask(initialDelay: interval, delay: interval) { _ in
            bound.value.tellProgress()
        }
        writes.insert(
            WriteQueue.Insert(
                received, firstRow: 0,
                rows: {
                    SpooledRows(spool, end: end, deadline: deadline, cancellation: cancellation)
                }, deadline: deadline
            ) { outcome in eventLoop.execute { bound.value.stored(outcome) } })
    }

    /// The client hears that it is still being worked on.
    private func tellProgress() {
        guard case .storing = phase else { return }
        connection.send(requestID, .inserted(InsertedRows(done), more: true))
    }

    /// Keys take several replies if there are many runs of them.
    private static let keyRunsMax = 250_000

    private func stored(_ outcome: Result<InsertedRows, LarderError>) {
        guard case .storing = phase else { return }
        switch outcome {
        case .failure(let error): finish(.failed(error))
        case .success(var rows):
            rows.batchCount = done.batchCount
            while rows.keys.count > Self.keyRunsMax {
                var part = rows
                part.keys = Array(rows.keys.prefix(Self.keyRunsMax))
                rows.keys.removeFirst(Self.keyRunsMax)
                connection.send(requestID, .inserted(part, more: true))
            }
            finish(.inserted(rows, more: false))
        }
    }

    private func finish(_ reply: Reply) {
        dropWaiting()
        abandon()
        connection.streamEnded(requestID, reply)
    }

    static let cancelled = LarderError(.cancelled, "the stream was cancelled by its client")
    static let expired = LarderError(
        .timeout, "the rows of a stream were not stored in time",
        hint: "allow it more time, or insert the rows in several transactions")

    private static func malformed(_ sentence: String) -> LarderError {
        LarderError(.malformedMessage, sentence)
    }
}

/// A batch that is a transaction.
private final class OneBatch: RowSource {
    private var batch: Batch?

    init(_ batch: Batch) { self.batch = batch }

    func next() -> Batch? {
        defer { batch = nil }
        return batch
    }
}

extension InsertedRows {
    /// How far a stream has come, without what was told already.
    fileprivate init(_ told: InsertedRows) {
        self = told
        keys = []
    }
}
