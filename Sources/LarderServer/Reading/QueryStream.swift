import LarderModel
import LarderQuery
import LarderWire
import NIOCore
import Synchronization

/// A query that the reader pool executes, batch by batch.
///
/// It belongs to its connection's event loop. Only the batches are read on the pool, one at a time.
/// The loop allows one batch ahead, and only while the socket is writable and the client has credit
/// left; so a slow client uses a reader for a bounded time and memory for three or four batches.
/// However the stream ends, it releases its reader exactly once.
final class QueryStream: OpenRequest {
    private enum Phase {
        /// A reader is being acquired, or a batch is being read.
        case reading
        /// The client or its socket is not ready for the next batch.
        case paused(PooledReader)
        case ended
    }

    /// The report of a job of the pool. It has released the reader, except after `paused`.
    private enum Outcome: Sendable {
        case last(EncodableReply)
        /// The next batch is already being read.
        case batch(EncodableReply)
        /// The next batch is not allowed yet.
        case paused(EncodableReply, PooledReader)
        case failed(LarderError)
    }

    /// The state that the jobs share with the event loop. It outlives a stream that has ended.
    private final class Execution: Sendable {
        let requestID: UInt64
        let plan: @Sendable () throws(LarderError) -> any QueryPlan
        let parameters: QueryParameters
        let measurement: SlowReads.Measurement
        let deadline: ContinuousClock.Instant
        let cancellation = ReadCancellation()
        let limits: ServerLimits
        /// The longest frame that the client accepts.
        let frameBytesMax: Int
        let release: @Sendable (PooledReader) -> Void
        private let isNextAllowed = Atomic(false)

        init(
            _ requestID: UInt64,
            _ plan: @escaping @Sendable () throws(LarderError) -> any QueryPlan,
            _ parameters: QueryParameters, _ measurement: SlowReads.Measurement,
            deadline: ContinuousClock.Instant, limits: ServerLimits, frameBytesMax: Int,
            release: @escaping @Sendable (PooledReader) -> Void
        ) {
            self.measurement = measurement
            self.requestID = requestID
            self.plan = plan
            self.parameters = parameters
            self.deadline = deadline
            self.limits = limits
            self.frameBytesMax = frameBytesMax
            self.release = release
        }

        /// Called on the event loop.
        func allowNext() { isNextAllowed.store(true, ordering: .releasing) }

        var hasAllowedNext: Bool { isNextAllowed.load(ordering: .relaxed) }

        /// Whether one more batch may be read. This uses up the permission.
        func takePermission() -> Bool {
            isNextAllowed.exchange(false, ordering: .acquiringAndReleasing)
        }
    }

    let requestID: UInt64
    /// The memory that the request takes.
    let bytes: Int
    private let execution: Execution
    private let record: QueryCounters.RecordNumber?
    private let queries: QueryCounters
    private let readers: ReaderSource
    private let pool: ReaderPool
    private let disposal: Disposal
    private let user: UInt32
    private let disposedBytesMin: Int
    private unowned let connection: ConnectionHandler
    private let eventLoop: any EventLoop
    private var phase = Phase.reading
    /// The number of batches that the client still accepts; nil is unlimited.
    private var credit: UInt32?
    private var expiry: Scheduled<Void>?

    /// - Parameters:
    ///   - credit: The credit of the request; 0 is unlimited.
    ///   - plan: Called on a thread of the pool.
    ///   - time: The time in which the last batch must have been sent.
    ///   - record: Counts the rows; nil if the query is not counted.
    ///   - bytes: The memory that the request takes.
    init(
        requestID: UInt64, plan: @escaping @Sendable () throws(LarderError) -> any QueryPlan,
        parameters: QueryParameters, measurement: SlowReads.Measurement,
        countedIn record: QueryCounters.RecordNumber?, credit: UInt32, time: Duration, bytes: Int,
        services: ConnectionServices, readers: ReaderSource,
        connection: ConnectionHandler, eventLoop: any EventLoop
    ) {
        self.requestID = requestID
        self.bytes = bytes
        self.record = record
        self.queries = services.loopReader.queries
        self.execution = Execution(
            requestID, plan, parameters, measurement, deadline: .now.advanced(by: time),
            limits: services.limits, frameBytesMax: connection.replyFrameBytesMax,
            release: readers.release)
        self.readers = readers
        self.pool = services.pool
        self.disposal = services.disposal
        self.user = connection.user
        self.disposedBytesMin = services.limits.loopReadBytesMax
        self.connection = connection
        self.eventLoop = eventLoop
        self.credit = credit == 0 ? nil : credit
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        self.expiry = eventLoop.scheduleTask(in: TimeAmount(time)) { bound.value.timeRanOut() }
    }

    func start() {
        _ = takeCredit()
        allowNext()
        let (execution, pool) = (execution, pool)
        let report = reporter()
        readers.acquire(
            connection.readerRequest(
                bytes: bytes, execution.cancellation, endSnapshot: snapshotEnder())
        ) { reader in
            switch reader {
            case .success(let reader): Self.readBatch(execution, reader, pool, report)
            case .failure(let error): report(.failed(error))
            }
        }
    }

    private func takeCredit() -> Bool {
        guard let credit else { return true }
        self.credit = credit > 0 ? credit - 1 : 0
        return credit > 0
    }

    /// Allows the batch after the one that is being read.
    private func allowNext() {
        guard !execution.hasAllowedNext, connection.isWritable, takeCredit() else { return }
        execution.allowNext()
    }

    func grant(_ batches: UInt32) {
        guard let credit else { return }
        self.credit = credit.addingClamped(batches)
        resume()
    }

    /// Continues if possible. Called when the socket or the client may have become ready.
    func resume() {
        switch phase {
        case .ended: break
        case .reading: allowNext()
        case .paused(let reader):
            guard connection.isWritable, execution.takePermission() || takeCredit() else { return }
            phase = .reading
            allowNext()
            let (execution, pool) = (execution, pool)
            let report = reporter()
            pool.submit(reader) { Self.readBatch(execution, reader, pool, report) }
        }
    }

    func cancel() {
        fail(LarderError(.cancelled, "the query was cancelled by its client"))
    }

    func fail(_ error: LarderError) { finish(.failed(error)) }

    func abandon() {
        expiry?.cancel()
        execution.cancellation.cancel()
        switch phase {
        case .ended: break
        case .reading: countRows()
        case .paused(let reader):
            countRows()
            release(reader)
        }
        phase = .ended
        if bytes > disposedBytesMin {
            disposal.release(
                execution, byteCount: bytes, for: ObjectIdentifier(self), of: user, on: eventLoop)
        }
    }

    private func countRows() {
        queries.add(
            rowCount: execution.measurement.rowCount, execution.measurement.work, to: record)
    }

    private func finish(_ reply: Reply) {
        abandon()
        connection.streamEnded(requestID, .reply(reply))
    }

    /// The store cannot keep the snapshot of the query any longer.
    private func snapshotEnds() {
        if case .ended = phase { return }
        finish(.failed(ReaderPool.snapshotExpired))
    }

    private func snapshotEnder() -> @Sendable () -> Void {
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        let eventLoop = eventLoop
        return { eventLoop.execute { bound.value.snapshotEnds() } }
    }

    private func timeRanOut() {
        switch phase {
        case .ended: break
        case .reading: finish(.failed(Self.timeout))
        case .paused:
            finish(
                .failed(
                    LarderError(
                        .snapshotExpired, "the client did not read the result in time",
                        hint: "read the batches faster, or fetch fewer rows at a time")))
        }
    }

    private static let timeout = LarderError(.timeout, "the query was not completed in time")

    private func deliver(_ outcome: Outcome) {
        if case .ended = phase {
            if case .paused(_, let reader) = outcome { release(reader) }
            return
        }
        switch outcome {
        case .failed(let error): finish(.failed(error))
        case .last(let reply):
            abandon()
            connection.streamEnded(requestID, reply)
        case .batch(let reply): connection.send(requestID, reply)
        case .paused(let reply, let reader):
            phase = .paused(reader)
            connection.send(requestID, reply)
        }
        resume()
    }

    private func release(_ reader: PooledReader) {
        let execution = execution
        pool.submit(reader) { Self.end(execution, reader) }
    }

    /// A function with which a job reports its outcome to the event loop.
    private func reporter() -> @Sendable (Outcome) -> Void {
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        let eventLoop = eventLoop
        return { outcome in eventLoop.execute { bound.value.deliver(outcome) } }
    }

    // MARK: On a thread of the pool

    private static func end(_ execution: Execution, _ reader: PooledReader) {
        reader.cursor?.close()
        let work = reader.cursor?.work ?? ReadWork()
        reader.cursor = nil
        execution.measurement.end(work) { steps(of: execution, reader) }
        execution.release(reader)
    }

    /// The plan of the query, for the log. It may be looked for after the deadline of the query.
    private static func steps(of execution: Execution, _ reader: PooledReader) -> [String] {
        let budget = reader.budget(
            deadline: .now + explanationTimeMax, cancellation: ReadCancellation())
        guard let plan = try? execution.plan(),
            let explanation = try? reader.reader.explain(
                plan, execution.parameters, budget: budget)
        else { return [] }
        return explanation.steps.map { String($0.drop { $0 == " " }) }
    }

    private static let explanationTimeMax = Duration.seconds(1)

    private static func readBatch(
        _ execution: Execution, _ reader: PooledReader, _ pool: ReaderPool,
        _ report: @escaping @Sendable (Outcome) -> Void
    ) {
        let start = ContinuousClock.now
        do throws(ReadFailure) {
            let (batch, isLast) = try nextBatch(execution, reader, pool)
            execution.measurement.add(.now - start, rowCount: batch.rowCount)
            let reply = EncodableReply(
                .batches([batch], more: !isLast), to: execution.requestID,
                encodedAbove: execution.limits.loopReplyBytesMax,
                frameBytesMax: execution.frameBytesMax)
            guard !isLast else {
                end(execution, reader)
                return report(.last(reply))
            }
            guard execution.takePermission() else { return report(.paused(reply, reader)) }
            report(.batch(reply))
            // Queued again, so that the jobs of other connections run first.
            pool.submit(reader) { readBatch(execution, reader, pool, report) }
        } catch {
            execution.measurement.add(.now - start)
            end(execution, reader)
            report(.failed(error.larderError))
        }
    }

    private static func nextBatch(
        _ execution: Execution, _ reader: PooledReader, _ pool: ReaderPool
    ) throws(ReadFailure) -> (batch: Batch, isLast: Bool) {
        if execution.cancellation.isCancelled {
            throw .failed(LarderError(.cancelled, "the query was cancelled by its client"))
        }
        guard ContinuousClock.now < execution.deadline else { throw .failed(timeout) }
        let budget = reader.budget(
            deadline: execution.deadline, cancellation: execution.cancellation)
        let bytesMax = execution.limits.batchBytesMax
        if let cursor = reader.cursor { return try cursor.next(bytesMax: bytesMax, budget: budget) }
        let plan: any QueryPlan
        do throws(LarderError) { plan = try execution.plan() } catch { throw .failed(error) }
        let workers = PoolWorkers(
            pool, reader, deadline: execution.deadline, cancellation: execution.cancellation)
        let cursor = try reader.reader.open(
            plan, execution.parameters, budget: budget, workers: workers)
        reader.cursor = cursor
        return try cursor.next(bytesMax: bytesMax, budget: budget)
    }
}
