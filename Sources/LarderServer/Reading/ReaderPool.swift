import LarderModel
import NIOCore
import Synchronization

/// A few threads and a bounded set of store readers, for reads that are too long for an event loop.
///
/// A read has one reader from beginning to end, also while its client is slow, but a thread only
/// while it computes. A connection has at most its share of the readers. Reads wait for a reader in
/// the order of their arrival, for a bounded time.
final class ReaderPool: Sendable {
    typealias Job = @Sendable (Result<PooledReader, LarderError>) -> Void

    private struct Waiter {
        let number: Int
        let connection: ObjectIdentifier
        let user: UInt32
        let job: Job
        let expiry: Scheduled<Void>
    }

    private struct State {
        var idle: [PooledReader] = []
        /// Admitted reads that have not ended, in total and by connection. Each has a reader or
        /// will take one, so the pool never makes more readers than this.
        var busy = 0
        var busyByConnection: [ObjectIdentifier: Int] = [:]
        var waiters: [Waiter] = []
        var nextNumber = 0
    }

    private static let threadCount = 2

    private let backend: any StoreBackend
    private let limits: ServerLimits
    private let threads = FairThreads(count: ReaderPool.threadCount)
    private let state = Mutex(State())

    init(backend: any StoreBackend, limits: ServerLimits) {
        self.backend = backend
        self.limits = limits
    }

    /// Runs a job on a thread of the pool with a reader, or with the error that there is none. The
    /// job or its successors must return the reader with ``release(_:)``.
    ///
    /// - Parameters:
    ///   - connection: Its share of the readers is charged.
    ///   - user: The share of waiting reads of this user id is charged.
    ///   - eventLoop: Schedules the end of the waiting time.
    func acquire(
        for connection: ObjectIdentifier, of user: UInt32, on eventLoop: any EventLoop,
        _ job: @escaping Job
    ) {
        let admitted = state.withLock { state -> Bool? in
            if mayStart(connection, state) {
                start(connection, &state)
                return true
            }
            guard mayWait(user, state) else { return nil }
            let number = state.nextNumber
            state.nextNumber += 1
            let expiry = eventLoop.scheduleTask(in: TimeAmount(limits.readerWaitTimeMax)) {
                self.expire(number)
            }
            state.waiters.append(
                Waiter(
                    number: number, connection: connection, user: user, job: job, expiry: expiry))
            return false
        }
        switch admitted {
        case true?: run(job, for: connection)
        case false?: break
        case nil:
            job(
                .failure(
                    LarderError(
                        .resourceExhausted, "too many long reads are waiting",
                        hint: "try again later")))
        }
    }

    /// Runs more work of a connection, with a reader that it has.
    func submit(for connection: ObjectIdentifier, _ work: @escaping @Sendable () -> Void) {
        threads.submit(for: connection, work)
    }

    /// Returns a reader to the pool and closes its cursor. It must be called on a thread of the
    /// pool.
    func release(_ reader: PooledReader) {
        reader.cursor?.close()
        reader.cursor = nil
        state.withLock { $0.idle.append(reader) }
        ended(for: reader.connection)
    }

    private func ended(for connection: ObjectIdentifier) {
        let next = state.withLock { state -> Waiter? in
            state.busy -= 1
            let left = (state.busyByConnection[connection] ?? 1) - 1
            state.busyByConnection[connection] = left > 0 ? left : nil
            guard
                let index = state.waiters.firstIndex(where: { mayStart($0.connection, state) })
            else { return nil }
            let waiter = state.waiters.remove(at: index)
            start(waiter.connection, &state)
            return waiter
        }
        guard let next else { return }
        next.expiry.cancel()
        run(next.job, for: next.connection)
    }

    private func mayStart(_ connection: ObjectIdentifier, _ state: borrowing State) -> Bool {
        (state.busyByConnection[connection] ?? 0) < limits.readersPerConnectionMax
            && state.busy < limits.readersMax
    }

    private func mayWait(_ user: UInt32, _ state: borrowing State) -> Bool {
        state.waiters.count < limits.readsWaitingMax
            && state.waiters.count(where: { $0.user == user }) < limits.readsWaitingPerUserMax
    }

    private func start(_ connection: ObjectIdentifier, _ state: inout State) {
        state.busy += 1
        state.busyByConnection[connection, default: 0] += 1
    }

    private func run(_ job: @escaping Job, for connection: ObjectIdentifier) {
        submit(for: connection) { [self] in
            do throws(LarderError) {
                job(.success(try takeReader(for: connection)))
            } catch {
                job(.failure(error))
                ended(for: connection)
            }
        }
    }

    private func takeReader(for connection: ObjectIdentifier) throws(LarderError) -> PooledReader {
        guard let idle = state.withLock({ $0.idle.popLast() }) else {
            return PooledReader(try backend.makeReader(), connection: connection)
        }
        idle.connection = connection
        return idle
    }

    private func expire(_ number: Int) {
        let waiter = state.withLock { state -> Waiter? in
            guard let index = state.waiters.firstIndex(where: { $0.number == number })
            else { return nil }
            return state.waiters.remove(at: index)
        }
        waiter?.job(
            .failure(
                LarderError(
                    .timeout, "no reader became free in time",
                    hint: "read or cancel the results that are still streaming, then try again")))
    }

    /// Ends the threads and releases the readers. It must be called after the last connection has
    /// closed.
    func close(_ done: @escaping @Sendable () -> Void) {
        threads.close { [self] in
            state.withLock { $0.idle = [] }
            done()
        }
    }

    /// Metrics for `stats`.
    var statistics: [Statistic] {
        state.withLock { state in
            [
                Statistic("poolReads", .int(Int64(state.busy))),
                Statistic("poolReadsWaiting", .int(Int64(state.waiters.count))),
            ]
        }
    }
}

/// A store reader of the pool, and its open cursor.
///
/// Sendable unchecked: it belongs to one read at a time, and the jobs of a read run one after the
/// other: the next is submitted after the last has reported. Between reads the pool's lock protects
/// it.
final class PooledReader: @unchecked Sendable {
    let reader: any StoreReader
    var cursor: (any ResultCursor)?
    fileprivate(set) var connection: ObjectIdentifier

    fileprivate init(_ reader: any StoreReader, connection: ObjectIdentifier) {
        self.reader = reader
        self.connection = connection
    }
}
