#if PostgreSQL
import Glibc

/// A connection to a database, which is ready or lost.
///
/// It is used on one thread at a time. A call waits for the server at most until its deadline, and
/// then a short time more for the server to stop the statement. Statements are sent in pipelines
/// and prepared when their shape is used first.
package final class PostgresConnection {
    let libpq: Libpq
    var names = PreparedNames(capacity: PostgresConnection.statementsMax)
    /// Stops a call of another thread.
    package let canceller: PostgresCanceller
    /// Whether it is in order. A connection that is not must be closed, and another one opened.
    package internal(set) var isUsable = true

    /// The number of shapes that stay prepared.
    static let statementsMax = 512
    /// The length of a statement that stays prepared. Clients choose the statements.
    static let preparedBytesMax = 16 << 10
    /// The first version with all that the store uses.
    static let serverVersionMin = 140_000
    /// How often a call that waits looks at its cancellation.
    static let cancellationInterval = Duration.milliseconds(50)
    /// How long the server has to stop a statement whose deadline has passed.
    static let stopTimeMax = Duration.seconds(2)

    private init(_ libpq: Libpq) {
        self.libpq = libpq
        canceller = libpq.canceller()
    }

    /// Connects to a database.
    ///
    /// libpq resolves the name of a host without a limit of its own: the limit is that of the
    /// system's resolver.
    ///
    /// - Throws: `cannotConnect`, `authenticationFailed`, `noSuchDatabase`, `notReady`,
    ///   `tooManyConnections`, `serverTooOld`, `wrongEncoding` or `deadlinePassed`.
    package static func open(
        _ address: PostgresAddress, deadline: ContinuousClock.Instant
    ) throws(PostgresError) -> PostgresConnection {
        let libpq = try Libpq(address.settings)
        // libpq's manual: wait to write first.
        var progress = libpq.isBroken ? Libpq.Progress.failed : .waitsToWrite
        while true {
            switch progress {
            case .ready: return try ready(libpq)
            case .failed: throw connectingError(libpq)
            case .waitsToRead, .waitsToWrite:
                let events = progress.events
                guard wait(for: events, on: libpq.socket, until: deadline) else {
                    throw PostgresError(
                        .deadlinePassed, "\(address) did not answer within the time allowed")
                }
            }
            progress = libpq.connect()
        }
    }

    private static func ready(_ libpq: Libpq) throws(PostgresError) -> PostgresConnection {
        guard libpq.serverVersion >= serverVersionMin else {
            throw PostgresError(
                .serverTooOld,
                "PostgreSQL \(libpq.serverVersion / 10_000) is too old; 14 is the first version "
                    + "that can be used")
        }
        let encoding = libpq.serverSetting("server_encoding")
        guard encoding == "UTF8" else {
            throw PostgresError(
                .wrongEncoding,
                "the database has the encoding \(encoding); create one with the encoding UTF8")
        }
        guard libpq.enterPipeline() else {
            throw PostgresError(.cannotConnect, ErrorText(libpq.errorText).message)
        }
        return PostgresConnection(libpq)
    }

    private static func connectingError(_ libpq: Libpq) -> PostgresError {
        let parts = ErrorText(libpq.errorText)
        guard !parts.sqlState.isEmpty else {
            return PostgresError(
                libpq.needsPassword ? .authenticationFailed : .cannotConnect, parts.message)
        }
        var error = PostgresError(sqlState: parts.sqlState, parts.message)
        // The server closed a connection that never was ready.
        if error.condition == .connectionLost { error.condition = .notReady }
        return error
    }

    /// Whether a transaction is open.
    package var isInTransaction: Bool { libpq.isInTransaction }

    /// The process of the server that serves the connection.
    package var serverProcess: Int32 { libpq.serverProcess }

    /// Whether the server has sent nothing since the last statement. What arrives unasked is the
    /// end of the connection, or rarely a notice: then another connection is as good.
    func isSilent() -> Bool {
        var descriptor = pollfd(fd: libpq.socket, events: Int16(POLLIN), revents: 0)
        return isUsable && poll(&descriptor, 1, 0) == 0
    }

    /// Waits for the socket.
    ///
    /// - Returns: false after the deadline.
    static func wait(
        for events: Int32, on socket: Int32, until deadline: ContinuousClock.Instant
    ) -> Bool {
        while true {
            let left = deadline - .now
            guard left > .zero else { return false }
            var descriptor = pollfd(fd: socket, events: Int16(events), revents: 0)
            // Rounded up, so that it does not wait for parts of a millisecond again and again.
            let milliseconds =
                min(
                    left.components.seconds, Self.waitSecondsMax) * 1_000
                + left.components.attoseconds / 1_000_000_000_000_000 + 1
            let count = poll(&descriptor, 1, Int32(clamping: milliseconds))
            if count > 0 { return true }
            // Only an interruption and the end of the time are expected; the rest shows itself when
            // the socket is read.
            if count < 0, errno != EINTR { return true }
        }
    }

    /// One wait of the system; the deadline decides about another.
    private static let waitSecondsMax: Int64 = 3_600
}

extension Libpq.Progress {
    fileprivate var events: Int32 { self == .waitsToRead ? POLLIN : POLLOUT }
}
#endif
