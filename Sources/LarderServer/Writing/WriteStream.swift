import LarderModel
import LarderQuery
import LarderWire
import NIOCore

/// A write that arrives in several messages: new objects in batches of rows, or one change set in
/// parts. The replies tell the client its progress.
///
/// It belongs to its connection's event loop. Messages are processed one at a time, in the order of
/// their arrival: a batch is stored as a transaction, or, if all are one transaction, spooled until
/// the last has arrived and all are stored together. At most a few messages wait; their bytes are
/// charged to the connection's user until they are stored or spooled. An error that ends the stream
/// drops the waiting messages and is reported after the one in progress, so what is stored is what
/// earlier replies have reported.
final class WriteStream: OpenRequest {
    /// The content of the messages, and how it is stored.
    enum Kind {
        /// Each batch is a transaction.
        case batches(InsertionRequest)
        /// All batches are one transaction.
        case rows(InsertionRequest, SpoolFile)
        /// The change set is in the messages.
        case changes(SaveRequest, SpoolFile)
    }

    /// The content of a message.
    enum Part: Equatable {
        case rows(Batch)
        case changes([UInt8])
    }

    private enum Item {
        /// A message of the client; one without content only marks the end.
        case message(Part?, isLast: Bool, bytes: Int)
        /// Later messages are ignored.
        case failure(LarderError)
    }

    private enum Phase {
        case receiving
        /// The spooled content is stored as a transaction.
        case storing
        case ended
    }

    let requestID: UInt64
    private let kind: Kind
    private let writes: WriteQueue
    private unowned let connection: ConnectionHandler
    private let eventLoop: any EventLoop
    private let cancellation = ReadCancellation()
    /// Why the stream was ended while its transaction was being executed.
    private var reason: LarderError?
    /// When everything must be stored; nil if only each batch has a limit.
    private let deadline: NIODeadline?
    private var spooledBytes = 0

    private var phase = Phase.receiving
    private var waiting: [Item] = []
    /// A message is being stored or spooled.
    private var isBusy = false
    /// The last message or a failure has been received.
    private var isComplete = false
    private var hasFailed = false
    private var stored = InsertedRows()
    private var timer: Scheduled<Void>?
    private var progress: RepeatedTask?

    /// - Parameter time: The time in which everything must be stored.
    init(
        requestID: UInt64, _ kind: Kind, time: Duration?, writes: WriteQueue,
        connection: ConnectionHandler, eventLoop: any EventLoop
    ) {
        self.requestID = requestID
        self.kind = kind
        self.writes = writes
        self.connection = connection
        self.eventLoop = eventLoop
        deadline = time.map { .now() + TimeAmount($0) }
        guard let time else { return }
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        timer = eventLoop.scheduleTask(in: TimeAmount(time)) { bound.value.fail(Self.expired) }
    }

    // MARK: Messages of the client

    /// - Parameter bytes: The memory that the message takes.
    func received(_ part: Part?, isLast: Bool, bytes: Int) {
        guard !isComplete else {
            if !hasFailed { fail(Self.malformed("a message was sent after the last one")) }
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
            if let part { try check(part) }
        } catch {
            return fail(error)
        }
        if let refusal = connection.quota.addRequest(bytes) { return fail(refusal) }
        isComplete = isLast
        waiting.append(.message(part, isLast: isLast, bytes: bytes))
        step()
    }

    private func check(_ part: Part) throws(LarderError) {
        switch (kind, part) {
        case (.batches(let received), .rows(let batch)),
            (.rows(let received, _), .rows(let batch)):
            try received.insertion.check(batch, in: connection.services.store.schema)
        case (.changes, .changes): break
        case (.changes, .rows), (.batches, .changes), (.rows, .changes):
            throw Self.malformed("a message of another kind of stream was sent")
        }
    }

    func cancel() { fail(Self.cancelled) }

    func inputEnded() {
        guard !isComplete else { return }
        fail(Self.malformed("the connection ended before the last message"))
    }

    /// The server waits for no more messages.
    func connectionDrains(_ reason: LarderError) {
        guard !isComplete else { return }
        fail(reason)
    }

    /// A batch that the writer has is stored; a transaction of all messages is cancelled unless it
    /// is stored already.
    func abandon() {
        timer?.cancel()
        progress?.cancel()
        cancellation.cancel()
        waiting = []
        phase = .ended
    }

    /// Ends with a failure after the message in progress. If all messages are one transaction,
    /// nothing is stored then.
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

    // MARK: One message after the other

    private func step() {
        guard case .receiving = phase, !isBusy, !waiting.isEmpty else { return }
        switch waiting.removeFirst() {
        case .failure(let error): finish(.failed(error))
        case .message(let part, let isLast, let bytes):
            guard let part, !part.isEmpty else {
                return processed(.success(InsertedRows()), isLast: isLast, bytes: bytes)
            }
            isBusy = true
            switch (kind, part) {
            case (.batches(let received), .rows(let batch)):
                store(batch, received, isLast: isLast, bytes)
            case (.rows(_, let spool), _), (.changes(_, let spool), _):
                append(part, to: spool, isLast: isLast, bytes)
            case (.batches, .changes): preconditionFailure("parts are checked when they arrive")
            }
        }
    }

    private func store(_ batch: Batch, _ received: InsertionRequest, isLast: Bool, _ bytes: Int) {
        let waitEnd = NIODeadline.now() + TimeAmount(connection.services.limits.writeWaitTimeMax)
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        let eventLoop = eventLoop
        let firstRow = stored.rowCount
        writes.append(
            .transaction(
                WriteQueue.Transaction(
                    for: connection.user, deadline: min(deadline ?? waitEnd, waitEnd),
                    execute: { writer, budget in
                        writer.insert(received, firstRow, OneBatch(batch), within: budget)
                    },
                    reply: { outcome in
                        eventLoop.execute {
                            bound.value.isBusy = false
                            bound.value.processed(
                                outcome.map(\.rows), isLast: isLast, bytes: bytes)
                        }
                    })))
    }

    /// On a thread of the pool, because a write to the disk may block.
    private func append(_ part: Part, to spool: SpoolFile, isLast: Bool, _ bytes: Int) {
        let start = spooledBytes
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        let eventLoop = eventLoop
        connection.services.pool.submit(
            in: .object(ObjectIdentifier(self)), of: connection.user
        ) { _ in
            let end = Result { () throws(LarderError) in try spool.append(part, at: start) }
            eventLoop.execute {
                let stream = bound.value
                stream.isBusy = false
                if case .success(let end) = end { stream.spooledBytes = end }
                let count = Int64(part.rowCount)
                stream.processed(
                    end.map { _ in InsertedRows(rowCount: count) }, isLast: isLast, bytes: bytes)
            }
        }
    }

    /// A message has been stored or spooled.
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
            send(progressReply)
            return step()
        }
        switch kind {
        case .batches: finish(.inserted(stored, more: false))
        case .rows(let received, let spool):
            storeAll { [spooledBytes, cancellation, deadline] writer, budget in
                let rows = SpooledRows(
                    spool, end: spooledBytes, deadline: deadline ?? .now(),
                    cancellation: cancellation)
                return writer.insert(received, 0, rows, within: budget)
            }
        case .changes(let request, let spool):
            let bytesMax = connection.services.limits.objectBytesMax
            storeAll { [spooledBytes, cancellation, deadline] writer, budget in
                var request = request
                request.budget = budget
                let changes = SpooledChanges(
                    spool, end: spooledBytes, changeBytesMax: bytesMax,
                    deadline: deadline ?? .now(), cancellation: cancellation)
                return writer.save(request, reading: changes).map { .changes($0) }
            }
        }
    }

    /// The reply to a message that is not the last.
    private var progressReply: Reply {
        switch kind {
        case .batches, .rows: .inserted(stored, more: true)
        case .changes: .savedPart(SaveResult(), partCount: stored.batchCount)
        }
    }

    // MARK: One transaction

    private func storeAll(
        _ execute:
            @escaping @Sendable (
                any StoreWriter, ReadBudget
            ) -> Result<WriteQueue.Written, LarderError>
    ) {
        phase = .storing
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        let eventLoop = eventLoop
        let interval = TimeAmount(connection.services.limits.progressInterval)
        progress = eventLoop.scheduleRepeatedTask(initialDelay: interval, delay: interval) { _ in
            bound.value.sendProgress()
        }
        writes.append(
            .transaction(
                WriteQueue.Transaction(
                    for: connection.user, deadline: deadline ?? .now(), execute: execute,
                    reply: { outcome in eventLoop.execute { bound.value.committed(outcome) } })))
    }

    private func sendProgress() {
        guard case .storing = phase else { return }
        stored.keys = []
        send(progressReply)
    }

    /// The runs of keys, or the objects, per reply; more take several replies.
    private static let keyRunsMax = 250_000
    private static let objectsMax = 100_000

    private func committed(_ outcome: Result<WriteQueue.Written, LarderError>) {
        guard case .storing = phase else { return }
        switch outcome {
        case .failure(let error) where error.code == .cancelled: finish(.failed(reason ?? error))
        case .failure(let error): finish(.failed(connection.services.known(error)))
        case .success(.rows(var rows)):
            rows.batchCount = stored.batchCount
            while rows.keys.count > Self.keyRunsMax {
                var part = rows
                part.keys = Array(rows.keys.prefix(Self.keyRunsMax))
                rows.keys.removeFirst(Self.keyRunsMax)
                send(.inserted(part, more: true))
            }
            finish(.inserted(rows, more: false))
        case .success(.changes(var result)):
            var (inserted, versions) = (result.inserted[...], result.updatedVersions[...])
            while inserted.count + versions.count > Self.objectsMax {
                var part = SaveResult()
                part.inserted = Array(inserted.prefix(Self.objectsMax))
                inserted = inserted.dropFirst(part.inserted.count)
                let left = Self.objectsMax - part.inserted.count
                part.updatedVersions = Array(versions.prefix(left))
                versions = versions.dropFirst(part.updatedVersions.count)
                send(.savedPart(part, partCount: stored.batchCount))
            }
            result.inserted = Array(inserted)
            result.updatedVersions = Array(versions)
            finish(.saved(result))
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
        .timeout, "a write in several messages was not stored in time",
        hint: "allow more time, or write in several transactions")

    private static func malformed(_ sentence: String) -> LarderError {
        LarderError(.malformedMessage, sentence)
    }
}

extension WriteStream.Part {
    fileprivate var isEmpty: Bool {
        switch self {
        case .rows(let batch): batch.rowCount == 0
        case .changes(let bytes): bytes.isEmpty
        }
    }

    fileprivate var rowCount: Int { if case .rows(let batch) = self { batch.rowCount } else { 0 } }
}

extension StoreWriter {
    fileprivate func insert(
        _ received: InsertionRequest, _ firstRow: Int64, _ rows: any RowSource,
        within budget: ReadBudget
    ) -> Result<WriteQueue.Written, LarderError> {
        var received = received
        received.budget = budget
        return insert(received, firstRow: firstRow, rows).map { .rows($0) }
    }
}

extension WriteQueue.Written {
    fileprivate var rows: InsertedRows {
        if case .rows(let rows) = self { rows } else { InsertedRows() }
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
