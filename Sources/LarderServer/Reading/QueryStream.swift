import LarderModel
import LarderWire
import NIOCore

/// One query that the reader pool answers, batch by batch.
///
/// It lives on its connection's event loop; only the making of a batch runs on the pool. There is
/// at most one batch in the making, and the next is begun only when the socket takes more and the
/// client has credit left, so that a slow client costs a reader for a bounded time and two or three
/// batches of memory. Whatever ends it gives the reader back exactly once.
final class QueryStream {
    private enum Phase {
        /// Waiting for a reader, or a batch is in the making.
        case producing
        /// The client or its socket is not ready for the next batch.
        case holding(PooledReader)
        case ended
    }

    /// What a job on the pool came to; it has released the reader unless more batches follow.
    private enum Production: Sendable {
        case batch(Batch, next: PooledReader?)
        case failed(LarderError)
    }

    /// What the jobs need to know, also of a stream that has ended meanwhile.
    private final class Inquiry: Sendable {
        let plan: any QueryPlan
        let parameters: QueryParameters
        let deadline: ContinuousClock.Instant
        let cancellation = ReadCancellation()

        init(
            _ plan: any QueryPlan, _ parameters: QueryParameters, deadline: ContinuousClock.Instant
        ) {
            self.plan = plan
            self.parameters = parameters
            self.deadline = deadline
        }
    }

    let requestID: UInt64
    private let inquiry: Inquiry
    private let pool: ReaderPool
    private let batchBytesMax: Int
    /// What the next batch may take: little at first, so that the client has work soon, and twice
    /// as much each time.
    private var nextBytesMax = QueryStream.firstBatchBytes
    private static let firstBatchBytes = 32 << 10
    private unowned let connection: ConnectionHandler
    private let eventLoop: any EventLoop
    private var phase = Phase.producing
    /// Batches that may still be sent; nil is no bound.
    private var credit: UInt32?
    private var expiry: Scheduled<Void>?

    /// - Parameters:
    ///   - credit: as the request says, 0 for no bound.
    ///   - time: until the last batch must have been sent.
    init(
        requestID: UInt64, plan: any QueryPlan, parameters: QueryParameters, credit: UInt32,
        time: Duration, pool: ReaderPool, batchBytesMax: Int, connection: ConnectionHandler,
        eventLoop: any EventLoop
    ) {
        self.requestID = requestID
        self.inquiry = Inquiry(plan, parameters, deadline: .now.advanced(by: time))
        self.pool = pool
        self.batchBytesMax = batchBytesMax
        self.connection = connection
        self.eventLoop = eventLoop
        self.credit = credit == 0 ? nil : credit
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        self.expiry = eventLoop.scheduleTask(in: TimeAmount(time)) { bound.value.expired() }
    }

    func start() {
        let (inquiry, pool, bytesMax) = (inquiry, pool, takeBytesMax())
        let report = reporter()
        pool.acquire(
            for: ObjectIdentifier(connection), of: connection.user, on: eventLoop
        ) { reader in
            switch reader {
            case .success(let reader):
                report(Self.produce(inquiry, reader, pool, bytesMax: bytesMax))
            case .failure(let error): report(.failed(error))
            }
        }
    }

    private func takeBytesMax() -> Int {
        defer { nextBytesMax = min(nextBytesMax * 2, batchBytesMax) }
        return min(nextBytesMax, batchBytesMax)
    }

    /// The client allows so many batches more.
    func grant(_ batches: UInt32) {
        guard let credit else { return }
        self.credit = credit.addingReportingOverflow(batches).overflow ? .max : credit + batches
        resume()
    }

    /// Goes on if it can: called whenever the socket or the client may have become ready.
    func resume() {
        guard case .holding(let reader) = phase, credit != 0, connection.isWritable else { return }
        phase = .producing
        let (inquiry, pool, bytesMax) = (inquiry, pool, takeBytesMax())
        let report = reporter()
        pool.submit(for: reader.connection) {
            report(Self.produce(inquiry, reader, pool, bytesMax: bytesMax))
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
        if case .ended = phase {
            if case .batch(_, let reader?) = production { giveBack(reader) }
            return
        }
        switch production {
        case .failed(let error): finish(.failed(error))
        case .batch(let batch, next: nil): finish(.batches([batch], more: false))
        case .batch(let batch, let reader?):
            phase = .holding(reader)
            if let credit { self.credit = credit - 1 }
            connection.send(requestID, .batches([batch], more: true))
            resume()
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
        _ inquiry: Inquiry, _ reader: PooledReader, _ pool: ReaderPool, bytesMax: Int
    ) -> Production {
        do throws(ReadFailure) {
            let (batch, isLast) = try next(inquiry, reader, bytesMax: bytesMax)
            if isLast { pool.release(reader) }
            return .batch(batch, next: isLast ? nil : reader)
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
