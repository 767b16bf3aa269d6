import LarderModel
import LarderWire
import NIOCore
import Synchronization

/// One query that the reader pool answers, batch by batch.
///
/// It lives on its connection's event loop; only the making of batches runs on the pool, one at a
/// time. The next may follow without asking the loop once it has been allowed, which happens only
/// while the socket takes more and the client has credit left; so that a slow client costs a reader
/// for a bounded time and three or four batches of memory. Whatever ends it gives the reader back
/// exactly once.
final class QueryStream {
    private enum Phase {
        /// Waiting for a reader, or a batch is in the making.
        case producing
        /// The client or its socket is not ready for the next batch.
        case holding(PooledReader)
        case ended
    }

    /// What a job on the pool came to; it has released the reader unless it waits.
    private enum Production: Sendable {
        case last(Batch)
        /// The next batch is in the making already.
        case batch(Batch)
        /// The next batch is to be allowed.
        case waiting(Batch, PooledReader)
        case failed(LarderError)
    }

    /// What the jobs need to know, also of a stream that has ended meanwhile.
    private final class Inquiry: Sendable {
        let plan: any QueryPlan
        let parameters: QueryParameters
        let deadline: ContinuousClock.Instant
        let cancellation = ReadCancellation()
        private let isNextAllowed = Atomic(false)
        private let batchBytesMax: Int
        private let nextBytesMax: Atomic<Int>

        init(
            _ plan: any QueryPlan, _ parameters: QueryParameters,
            deadline: ContinuousClock.Instant, batchBytesMax: Int
        ) {
            self.plan = plan
            self.parameters = parameters
            self.deadline = deadline
            self.batchBytesMax = batchBytesMax
            nextBytesMax = Atomic(min(QueryStream.firstBatchBytes, batchBytesMax))
        }

        /// What the next batch may take: little at first, so that the client has work soon, and
        /// twice as much each time.
        func takeBytesMax() -> Int {
            let bytesMax = nextBytesMax.load(ordering: .relaxed)
            nextBytesMax.store(min(bytesMax * 2, batchBytesMax), ordering: .relaxed)
            return bytesMax
        }

        /// Called on the event loop.
        func allowNext() { isNextAllowed.store(true, ordering: .releasing) }

        var hasAllowedNext: Bool { isNextAllowed.load(ordering: .relaxed) }

        /// Whether one more batch may be made; it is then not allowed any more.
        func takeAllowance() -> Bool {
            isNextAllowed.exchange(false, ordering: .acquiringAndReleasing)
        }
    }

    let requestID: UInt64
    private let inquiry: Inquiry
    private let services: ConnectionServices
    private let pool: ReaderPool
    private static let firstBatchBytes = 32 << 10
    private unowned let connection: ConnectionHandler
    private let eventLoop: any EventLoop
    private var phase = Phase.producing
    /// Batches that may still be made; nil is no bound.
    private var credit: UInt32?
    private var expiry: Scheduled<Void>?

    /// - Parameters:
    ///   - credit: as the request says, 0 for no bound.
    ///   - time: until the last batch must have been sent.
    init(
        requestID: UInt64, plan: any QueryPlan, parameters: QueryParameters, credit: UInt32,
        time: Duration, services: ConnectionServices, connection: ConnectionHandler,
        eventLoop: any EventLoop
    ) {
        self.requestID = requestID
        self.inquiry = Inquiry(
            plan, parameters, deadline: .now.advanced(by: time),
            batchBytesMax: services.limits.batchBytesMax)
        self.services = services
        self.pool = services.pool
        self.connection = connection
        self.eventLoop = eventLoop
        self.credit = credit == 0 ? nil : credit
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        self.expiry = eventLoop.scheduleTask(in: TimeAmount(time)) { bound.value.expired() }
    }

    func start() {
        _ = takeCredit()
        allowNext()
        let (inquiry, pool) = (inquiry, pool)
        let report = reporter()
        pool.acquire(
            for: ObjectIdentifier(connection), of: connection.user, on: eventLoop
        ) { reader in
            switch reader {
            case .success(let reader): Self.produce(inquiry, reader, pool, report)
            case .failure(let error): report(.failed(error))
            }
        }
    }

    private func takeCredit() -> Bool {
        guard let credit else { return true }
        self.credit = credit > 0 ? credit - 1 : 0
        return credit > 0
    }

    /// Lets a batch follow the one in the making.
    private func allowNext() {
        guard !inquiry.hasAllowedNext, connection.isWritable, takeCredit() else { return }
        inquiry.allowNext()
    }

    /// The client allows so many batches more.
    func grant(_ batches: UInt32) {
        guard let credit else { return }
        self.credit = credit.addingReportingOverflow(batches).overflow ? .max : credit + batches
        resume()
    }

    /// Goes on if it can: called whenever the socket or the client may have become ready.
    func resume() {
        switch phase {
        case .ended: break
        case .producing: allowNext()
        case .holding(let reader):
            guard connection.isWritable, inquiry.takeAllowance() || takeCredit() else { return }
            phase = .producing
            allowNext()
            let (inquiry, pool) = (inquiry, pool)
            let report = reporter()
            pool.submit(for: reader.connection) { Self.produce(inquiry, reader, pool, report) }
        }
    }

    /// The client wants no more of it.
    func cancel() {
        finish(.failed(LarderError(.cancelled, "the query was cancelled by its client")))
    }

    /// Ends without an answer: the connection has gone.
    func abandon() {
        expiry?.cancel()
        inquiry.cancellation.cancel()
        if case .holding(let reader) = phase { giveBack(reader) }
        phase = .ended
    }

    private func finish(_ reply: Reply) {
        abandon()
        connection.streamEnded(requestID, reply)
    }

    private func expired() {
        switch phase {
        case .ended: break
        case .producing:
            finish(.failed(LarderError(.timeout, "the query was not answered in time")))
        case .holding:
            finish(
                .failed(
                    LarderError(
                        .snapshotExpired, "the answer was not taken in time",
                        hint: "take the batches faster, or ask for fewer rows at a time")))
        }
    }

    private func produced(_ production: Production) {
        deliver(production)
        resume()
    }

    private func deliver(_ production: Production) {
        if case .ended = phase {
            if case .waiting(_, let reader) = production { giveBack(reader) }
            return
        }
        switch production {
        case .failed(let error): finish(.failed(error))
        case .last(let batch): finish(.batches([batch], more: false))
        case .batch(let batch): connection.send(requestID, .batches([batch], more: true))
        case .waiting(let batch, let reader):
            phase = .holding(reader)
            connection.send(requestID, .batches([batch], more: true))
        }
    }

    private func giveBack(_ reader: PooledReader) {
        let pool = pool
        pool.submit(for: reader.connection) { pool.release(reader) }
    }

    /// Brings what a job came to back to the event loop.
    private func reporter() -> @Sendable (Production) -> Void {
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        let eventLoop = eventLoop
        return { production in eventLoop.execute { bound.value.produced(production) } }
    }

    /// The job itself, on a thread of the pool.
    private static func produce(
        _ inquiry: Inquiry, _ reader: PooledReader, _ pool: ReaderPool,
        _ report: @escaping @Sendable (Production) -> Void
    ) {
        switch produced(inquiry, reader, pool, bytesMax: inquiry.takeBytesMax()) {
        case .waiting(let batch, _) where inquiry.takeAllowance():
            report(.batch(batch))
            // In its turn: other connections have theirs.
            pool.submit(for: reader.connection) { produce(inquiry, reader, pool, report) }
        case let production: report(production)
        }
    }

    /// Makes a batch; the reader is given back unless there are more.
    private static func produced(
        _ inquiry: Inquiry, _ reader: PooledReader, _ pool: ReaderPool, bytesMax: Int
    ) -> Production {
        do throws(ReadFailure) {
            let (batch, isLast) = try next(inquiry, reader, bytesMax: bytesMax)
            guard isLast else { return .waiting(batch, reader) }
            pool.release(reader)
            return .last(batch)
        } catch {
            pool.release(reader)
            return .failed(error.larderError)
        }
    }

    private static func next(
        _ inquiry: Inquiry, _ reader: PooledReader, bytesMax: Int
    ) throws(ReadFailure) -> (batch: Batch, isLast: Bool) {
        if inquiry.cancellation.isCancelled {
            throw .failed(LarderError(.cancelled, "the query was cancelled by its client"))
        }
        guard ContinuousClock.now < inquiry.deadline else {
            throw .failed(LarderError(.timeout, "the query was not answered in time"))
        }
        let budget = ReadBudget(
            deadline: inquiry.deadline, cancellation: inquiry.cancellation)
        if let cursor = reader.cursor { return try cursor.next(bytesMax: bytesMax, budget: budget) }
        let cursor = try reader.reader.open(inquiry.plan, inquiry.parameters, budget: budget)
        reader.cursor = cursor
        return try cursor.next(bytesMax: bytesMax, budget: budget)
    }
}
