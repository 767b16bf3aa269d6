#if PostgreSQL
import Dispatch
import Synchronization

/// Connections to one database, which threads share: at most a number of them, each used by one
/// thread at a time.
package final class ConnectionPool: Sendable {
    /// Safe to share: the thread that takes it out of the list is its only user.
    private struct Idle: @unchecked Sendable {
        let connection: PostgresConnection
    }

    private struct State {
        var idle: [Idle] = []
        var waitingCount = 0
    }

    private let address: PostgresAddress
    private let waitingMax: Int
    private let state = Mutex(State())
    private let permits: DispatchSemaphore

    /// - Parameters:
    ///   - connectionsMax: The number of connections, from 1. They are opened when they are needed.
    ///   - waitingMax: How many threads may wait for a connection; one more gets an error.
    package init(_ address: PostgresAddress, connectionsMax: Int, waitingMax: Int) {
        self.address = address
        self.waitingMax = waitingMax
        permits = DispatchSemaphore(value: max(1, connectionsMax))
    }

    /// Calls a closure with a connection that runs nothing and has no open transaction. One that
    /// the closure leaves otherwise is closed.
    ///
    /// - Throws: `poolExhausted`, `deadlinePassed`, an error of opening a connection, or that of
    /// the
    ///   closure.
    package func withConnection<Result>(
        deadline: ContinuousClock.Instant,
        _ body: (PostgresConnection) throws(PostgresError) -> Result
    ) throws(PostgresError) -> Result {
        try takePermit(deadline)
        defer { permits.signal() }
        let connection = try connection(deadline)
        defer {
            if connection.isUsable, !connection.isInTransaction {
                let idle = Idle(connection: connection)
                state.withLock { $0.idle.append(idle) }
            }
        }
        return try body(connection)
    }

    private func takePermit(_ deadline: ContinuousClock.Instant) throws(PostgresError) {
        if permits.wait(timeout: .now()) == .success { return }
        let mayWait = state.withLock { state in
            guard state.waitingCount < waitingMax else { return false }
            state.waitingCount += 1
            return true
        }
        guard mayWait else {
            throw PostgresError(.poolExhausted, "too many requests wait for the database")
        }
        defer { state.withLock { $0.waitingCount -= 1 } }
        let left = max(.zero, deadline - .now)
        let nanoseconds =
            min(left.components.seconds, Self.waitSecondsMax) * 1_000_000_000
            + left.components.attoseconds / 1_000_000_000
        guard permits.wait(timeout: .now() + .nanoseconds(Int(clamping: nanoseconds))) == .success
        else {
            throw PostgresError(
                .deadlinePassed, "no connection to the database became free in the time allowed")
        }
    }

    private static let waitSecondsMax: Int64 = 1 << 31

    /// The one that was used last, or a new one.
    private func connection(
        _ deadline: ContinuousClock.Instant
    ) throws(PostgresError) -> PostgresConnection {
        while let idle = state.withLock({ $0.idle.popLast() }) {
            if idle.connection.isSilent() { return idle.connection }
        }
        return try PostgresConnection.open(address, deadline: deadline)
    }

    /// The connections that nobody uses.
    package var idleCount: Int { state.withLock { $0.idle.count } }

    /// Closes the connections that nobody uses.
    package func closeIdle() {
        let idle = state.withLock { state in
            defer { state.idle = [] }
            return state.idle
        }
        // Closed outside of the lock.
        _ = idle
    }
}
#endif
