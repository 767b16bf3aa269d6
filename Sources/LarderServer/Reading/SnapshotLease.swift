import LarderModel
import LarderQuery
import LarderWire
import NIOCore

/// A snapshot that a client has opened, and the reads in it.
///
/// It has a reader of the pool until its client cancels it or its time is over, and performs one
/// read after the other. It belongs to its connection's event loop.
final class SnapshotLease: OpenRequest {
    private enum Phase {
        case opening
        case idle(PooledReader)
        /// A read has the reader. It may end the read early by the closure.
        case busy(endRead: @Sendable () -> Void)
        case ended
    }

    private struct Waiter {
        let request: ReaderPool.Request
        let job: ReaderPool.Job
    }

    /// The report of the job that opens the snapshot.
    private enum Opening: Sendable {
        case opened(PooledReader, Int64)
        case failed(LarderError)
    }

    let requestID: UInt64
    private let services: ConnectionServices
    private unowned let connection: ConnectionHandler
    private let eventLoop: any EventLoop
    private var phase = Phase.opening
    private var waiters: [Waiter] = []
    /// Ends the wait for a reader.
    private let cancellation = ReadCancellation()
    private var expiry: Scheduled<Void>?

    init(
        requestID: UInt64, time: Duration, connection: ConnectionHandler,
        eventLoop: any EventLoop
    ) {
        self.requestID = requestID
        self.services = connection.services
        self.connection = connection
        self.eventLoop = eventLoop
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        expiry = eventLoop.scheduleTask(in: TimeAmount(time)) {
            bound.value.end(.failed(Self.expired))
        }
    }

    static let expired = LarderError(
        .snapshotExpired, "the snapshot has ended",
        hint: "open another one, and read everything from it again")

    func open() {
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        let (eventLoop, pool) = (eventLoop, services.pool)
        let report: @Sendable (Opening) -> Void = { opening in
            eventLoop.execute { bound.value.opened(opening) }
        }
        let endSnapshot: @Sendable () -> Void = {
            eventLoop.execute { bound.value.end(.failed(ReaderPool.snapshotExpired)) }
        }
        pool.acquire(
            connection.readerRequest(bytes: 0, cancellation, endSnapshot: endSnapshot)
        ) { reader in
            switch reader {
            case .failure(let error): report(.failed(error))
            case .success(let reader):
                do throws(LarderError) {
                    report(.opened(reader, try reader.reader.pinSnapshot()))
                } catch {
                    pool.release(reader)
                    report(.failed(error))
                }
            }
        }
    }

    private func opened(_ opening: Opening) {
        guard case .opening = phase else {
            if case .opened(let reader, _) = opening { release(reader) }
            return
        }
        switch opening {
        case .failed(let error): end(.failed(error))
        case .opened(let reader, let number):
            let store = services.store
            let position = HistoryToken(
                store: store.identifier, epoch: store.historyEpoch, number: number)
            connection.send(requestID, .reply(.snapshotOpened(position)))
            guard case .opening = phase else { return release(reader) }
            becomeIdle(reader)
        }
    }

    // MARK: Reads

    /// The reader of the snapshot for the reads of its connection.
    var readers: ReaderSource {
        ReaderSource(
            acquire: { self.acquire($0, $1) },
            release: { [bound = NIOLoopBound(self, eventLoop: eventLoop), eventLoop] reader in
                reader.cursor?.close()
                reader.cursor = nil
                eventLoop.execute { bound.value.becomeIdle(reader) }
            })
    }

    private func acquire(_ request: ReaderPool.Request, _ job: @escaping ReaderPool.Job) {
        if case .ended = phase { return job(.failure(Self.expired)) }
        waiters.append(Waiter(request: request, job: job))
        if case .idle(let reader) = phase { startNext(reader) }
    }

    private func becomeIdle(_ reader: PooledReader) {
        if case .ended = phase { return release(reader) }
        phase = .idle(reader)
        startNext(reader)
    }

    private func startNext(_ reader: PooledReader) {
        guard !waiters.isEmpty else { return }
        let waiter = waiters.removeFirst()
        phase = .busy(endRead: waiter.request.endSnapshot)
        services.pool.submit(reader) { waiter.job(.success(reader)) }
    }

    // MARK: The end

    func cancel() {
        fail(LarderError(.cancelled, "the snapshot was ended by its client"))
    }

    func inputEnded() { fail(Self.expired) }

    func connectionDrains(_ reason: LarderError) { fail(reason) }

    func fail(_ error: LarderError) { end(.failed(error)) }

    func abandon() {
        expiry?.cancel()
        cancellation.cancel()
        let (last, waiting) = (phase, waiters)
        phase = .ended
        waiters = []
        switch last {
        case .opening, .ended: break
        case .idle(let reader): release(reader)
        case .busy(let endRead): endRead()
        }
        for waiter in waiting { waiter.job(.failure(Self.expired)) }
    }

    private func end(_ reply: Reply) {
        if case .ended = phase { return }
        abandon()
        connection.streamEnded(requestID, .reply(reply))
    }

    private func release(_ reader: PooledReader) {
        let pool = services.pool
        pool.submit(reader) {
            reader.reader.unpinSnapshot()
            pool.release(reader)
        }
    }
}

/// Where a read gets its reader: the pool, or a snapshot.
struct ReaderSource {
    /// It must be called on the event loop. The job may run on it if there is no reader.
    let acquire: (ReaderPool.Request, @escaping ReaderPool.Job) -> Void
    /// It must be called on a thread of the pool.
    let release: @Sendable (PooledReader) -> Void

    init(
        acquire: @escaping (ReaderPool.Request, @escaping ReaderPool.Job) -> Void,
        release: @escaping @Sendable (PooledReader) -> Void
    ) {
        self.acquire = acquire
        self.release = release
    }

    init(_ pool: ReaderPool) {
        acquire = { pool.acquire($0, $1) }
        release = { pool.release($0) }
    }
}
