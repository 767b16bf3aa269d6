import LarderModel
import NIOCore
import Synchronization

/// The few threads and the bounded set of store readers for reads that an event loop will not do.
///
/// A read holds one reader from its first step to its last, also while its client is slow; a thread
/// it holds only while it computes. No connection holds more than its share of the readers, and
/// who waits for one waits a bounded time, in the order of arrival.
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
        /// Reads that were admitted and have not ended, in all and by connection. Each has a
        /// reader or is about to take one, so that never more readers are made than these.
        var busy = 0
        var held: [ObjectIdentifier: Int] = [:]
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

    /// Runs the job on a thread of the pool with a reader, which the job gives back with
    /// ``release(_:)`` when it no longer needs it; or with the reason why there is none.
    ///
    /// - Parameters:
    ///   - connection: whose share of the readers this counts against.
    ///   - user: whose share of the places for those who wait.
    ///   - eventLoop: keeps the time of the waiting.
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
            job(.failure(LarderError(.resourceExhausted, "too many long reads are waiting")))
        }
    }

    /// Runs more work of a connection, with a reader that was acquired for it.
    func submit(for connection: ObjectIdentifier, _ work: @escaping @Sendable () -> Void) {
        threads.submit(for: connection, work)
    }

    /// Takes a reader back, closing its cursor, and gives it to who waits; on the thread that used
    /// it last.
    func release(_ reader: PooledReader) {
        reader.cursor?.close()
        reader.cursor = nil
        state.withLock { $0.idle.append(reader) }
        ended(for: reader.connection)
    }

    private func ended(for connection: ObjectIdentifier) {
        let next = state.withLock { state -> Waiter? in
            state.busy -= 1
            let held = (state.held[connection] ?? 1) - 1
            state.held[connection] = held > 0 ? held : nil
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
        (state.held[connection] ?? 0) < limits.readersPerConnectionMax
            && state.busy < limits.readersMax
    }

    private func mayWait(_ user: UInt32, _ state: borrowing State) -> Bool {
        state.waiters.count < limits.readsWaitingMax
            && state.waiters.count(where: { $0.user == user }) < limits.readsWaitingPerUserMax
    }

    private func start(_ connection: ObjectIdentifier, _ state: inout State) {
        state.busy += 1
        state.held[connection, default: 0] += 1
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
                    hint: "take or cancel the answers that are still streaming, then try again")))
    }

    /// Ends the threads and lets go of the readers, once no connection is left.
    func close(_ done: @escaping @Sendable () -> Void) {
        threads.close { [self] in
            state.withLock { $0.idle = [] }
            done()
        }
    }

    /// Figures for `stats`.
    var statistics: [Statistic] {
        state.withLock { state in
            [
                Statistic("poolReads", .int(Int64(state.busy))),
                Statistic("poolReadsWaiting", .int(Int64(state.waiters.count))),
            ]
        }
    }
}

/// A store reader of the pool, and the cursor that is open on it.
///
/// Sendable unchecked: it belongs to one read at a time, whose jobs follow one another; the next is
/// submitted only after the one before has reported. Between reads it belongs to the pool's lock.
final class PooledReader: @unchecked Sendable {
    let reader: any StoreReader
    var cursor: (any ResultCursor)?
    fileprivate(set) var connection: ObjectIdentifier

    fileprivate init(_ reader: any StoreReader, connection: ObjectIdentifier) {
        self.reader = reader
        self.connection = connection
    }
}
