import LarderModel
import LarderWire
import NIOCore
import Synchronization

/// A query that the reader pool executes, batch by batch.
///
/// It belongs to its connection's event loop. Only the batches are read on the pool, one at a time.
/// The loop allows one batch ahead, and only while the socket is writable and the client has credit
/// left; so a slow client uses a reader for a bounded time and memory for three or four batches.
/// However the stream ends, it releases its reader exactly once.
final class QueryStream {
    private enum Phase {
        /// A reader is being acquired, or a batch is being read.
        case reading
        /// The client or its socket is not ready for the next batch.
        case paused(PooledReader)
        case ended
    }

    /// The report of a job of the pool. It has released the reader, except after `paused`.
    private enum Outcome: Sendable {
        case last(Batch)
        /// The next batch is already being read.
        case batch(Batch)
        /// The next batch is not allowed yet.
        case paused(Batch, PooledReader)
        case failed(LarderError)
    }

    /// The state that the jobs share with the event loop. It outlives a stream that has ended.
    private final class Execution: Sendable {
        let plan: any QueryPlan
        let parameters: QueryParameters
        let deadline: ContinuousClock.Instant
        let cancellation = ReadCancellation()
        let batchBytesMax: Int
        private let isNextAllowed = Atomic(false)

        init(
            _ plan: any QueryPlan, _ parameters: QueryParameters,
            deadline: ContinuousClock.Instant, batchBytesMax: Int
        ) {
            self.plan = plan
            self.parameters = parameters
            self.deadline = deadline
            self.batchBytesMax = batchBytesMax
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
    private let execution: Execution
    private let pool: ReaderPool
    private unowned let connection: ConnectionHandler
    private let eventLoop: any EventLoop
    private var phase = Phase.reading
    /// The number of batches that the client still accepts; nil is unlimited.
    private var credit: UInt32?
    private var expiry: Scheduled<Void>?

    /// - Parameters:
    ///   - credit: The credit of the request; 0 is unlimited.
    ///   - time: The time in which the last batch must have been sent.
    init(
        requestID: UInt64, plan: any QueryPlan, parameters: QueryParameters, credit: UInt32,
        time: Duration, services: ConnectionServices, connection: ConnectionHandler,
        eventLoop: any EventLoop
    ) {
        self.requestID = requestID
        self.execution = Execution(
            plan, parameters, deadline: .now.advanced(by: time),
            batchBytesMax: services.limits.batchBytesMax)
        self.pool = services.pool
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
        pool.acquire(
            for: ObjectIdentifier(connection), of: connection.user, on: eventLoop
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

    /// The client accepts more batches.
    func grant(_ batches: UInt32) {
        guard let credit else { return }
        self.credit = credit.addingReportingOverflow(batches).overflow ? .max : credit + batches
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
            pool.submit(for: reader.connection) {
                Self.readBatch(execution, reader, pool, report)
            }
        }
    }

    /// The client has cancelled the query.
    func cancel() {
        finish(.failed(LarderError(.cancelled, "the query was cancelled by its client")))
    }

    /// Ends without a reply, because the connection closes.
    func abandon() {
        expiry?.cancel()
        execution.cancellation.cancel()
        if case .paused(let reader) = phase { release(reader) }
        phase = .ended
    }

    private func finish(_ reply: Reply) {
        abandon()
        connection.streamEnded(requestID, reply)
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
        case .last(let batch): finish(.batches([batch], more: false))
        case .batch(let batch): connection.send(requestID, .batches([batch], more: true))
        case .paused(let batch, let reader):
            phase = .paused(reader)
            connection.send(requestID, .batches([batch], more: true))
        }
        resume()
    }

    private func release(_ reader: PooledReader) {
        let pool = pool
        pool.submit(for: reader.connection) { pool.release(reader) }
    }

    /// A function with which a job reports its outcome to the event loop.
    private func reporter() -> @Sendable (Outcome) -> Void {
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        let eventLoop = eventLoop
        return { outcome in eventLoop.execute { bound.value.deliver(outcome) } }
    }

    // MARK: On a thread of the pool

    private static func readBatch(
        _ execution: Execution, _ reader: PooledReader, _ pool: ReaderPool,
        _ report: @escaping @Sendable (Outcome) -> Void
    ) {
        do throws(ReadFailure) {
            let (batch, isLast) = try nextBatch(execution, reader)
            guard !isLast else {
                pool.release(reader)
                return report(.last(batch))
            }
            guard execution.takePermission() else { return report(.paused(batch, reader)) }
            report(.batch(batch))
            // Queued again, so that the jobs of other connections run first.
            pool.submit(for: reader.connection) { readBatch(execution, reader, pool, report) }
        } catch {
            pool.release(reader)
            report(.failed(error.larderError))
        }
    }

    private static func nextBatch(
        _ execution: Execution, _ reader: PooledReader
    ) throws(ReadFailure) -> (batch: Batch, isLast: Bool) {
        if execution.cancellation.isCancelled {
            throw .failed(LarderError(.cancelled, "the query was cancelled by its client"))
        }
        guard ContinuousClock.now < execution.deadline else { throw .failed(timeout) }
        let budget = ReadBudget(
            deadline: execution.deadline, cancellation: execution.cancellation)
        let bytesMax = execution.batchBytesMax
        if let cursor = reader.cursor { return try cursor.next(bytesMax: bytesMax, budget: budget) }
        let cursor = try reader.reader.open(execution.plan, execution.parameters, budget: budget)
        reader.cursor = cursor
        return try cursor.next(bytesMax: bytesMax, budget: budget)
    }
}
