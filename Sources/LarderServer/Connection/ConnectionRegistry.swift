import LarderModel
import NIOCore
import Synchronization

/// The open connections, and the quotas that they share: the number of connections and the bytes
/// that wait, in total and per user.
///
/// Its lock is taken when a connection opens, completes its handshake, has waiting bytes or closes;
/// never for a request that gets its reply at once.
final class ConnectionRegistry: Sendable {
    private struct User {
        var connections = 0
        var queuedBytes = 0
    }

    private struct State {
        var connections: [ObjectIdentifier: ConnectionPort] = [:]
        var users: [UInt32: User] = [:]
        var count = 0
        var handshakesPending = 0
        var opened = 0
        var refused = 0
        var queuedBytes = 0
        var isDraining = false
        var whenEmpty: (@Sendable () -> Void)?
    }

    private let limits: ServerLimits
    private let connectionsMax: Int
    private let state = Mutex(State())
    /// Called each time the last connection has closed.
    private let becameEmpty: @Sendable () -> Void

    init(
        limits: ServerLimits, descriptorLimit: Int, becameEmpty: @escaping @Sendable () -> Void
    ) {
        self.limits = limits
        self.connectionsMax = limits.connectionsMax(descriptorLimit: descriptorLimit)
        self.becameEmpty = becameEmpty
    }

    /// Admits a new connection, or returns why it is refused.
    func open(_ port: ConnectionPort, user: UInt32) -> LarderError? {
        state.withLock { state in
            let refusal = refusal(state, user: user)
            guard refusal == nil else {
                state.refused += 1
                return refusal
            }
            state.connections[port.identity] = port
            state.users[user, default: User()].connections += 1
            state.count += 1
            state.handshakesPending += 1
            state.opened += 1
            return nil
        }
    }

    private func refusal(_ state: borrowing State, user: UInt32) -> LarderError? {
        if state.isDraining { return ConnectionState.stopping }
        if state.count >= connectionsMax {
            return exhausted("the server has the maximum of \(connectionsMax) connections")
        }
        if state.users[user]?.connections ?? 0 >= limits.connectionsPerUserMax {
            return exhausted(
                "user \(user) has the maximum of \(limits.connectionsPerUserMax) connections")
        }
        if state.handshakesPending >= limits.handshakesPendingMax {
            return exhausted(
                "\(limits.handshakesPendingMax) connections have not sent a handshake yet")
        }
        return nil
    }

    private func exhausted(_ message: String) -> LarderError {
        LarderError(
            .resourceExhausted, message, hint: "close idle connections, then try again")
    }

    func handshakeEnded() {
        state.withLock { $0.handshakesPending -= 1 }
    }

    /// - Parameter queuedBytes: The bytes that are still charged for the connection.
    func close(_ port: ConnectionPort, user: UInt32, queuedBytes: Int) {
        let (isEmpty, whenEmpty) = state.withLock { state in
            state.connections[port.identity] = nil
            state.count -= 1
            state.queuedBytes -= queuedBytes
            if var usage = state.users[user] {
                usage.connections -= 1
                usage.queuedBytes -= queuedBytes
                state.users[user] = usage.connections > 0 ? usage : nil
            }
            guard state.count == 0 else { return (false, nil as (@Sendable () -> Void)?) }
            defer { state.whenEmpty = nil }
            return (true, state.whenEmpty)
        }
        guard isEmpty else { return }
        becameEmpty()
        whenEmpty?()
    }

    /// Adds waiting bytes to a user's total, or subtracts them if negative.
    ///
    /// - Returns: false if the total is above the maximum per user.
    func charge(_ bytes: Int, to user: UInt32) -> Bool {
        state.withLock { state in
            state.queuedBytes += bytes
            state.users[user]?.queuedBytes += bytes
            return state.users[user]?.queuedBytes ?? 0 <= limits.queuedBytesPerUserMax
        }
    }

    var isEmpty: Bool { state.withLock { $0.count == 0 } }

    /// Lets every connection complete its requests and close, and admits no more connections.
    ///
    /// - Parameter whenEmpty: Called once, when the last connection has closed.
    func drain(whenEmpty: @escaping @Sendable () -> Void) {
        let ports = state.withLock { state -> [ConnectionPort]? in
            state.isDraining = true
            guard state.count > 0 else { return nil }
            state.whenEmpty = whenEmpty
            return Array(state.connections.values)
        }
        guard let ports else { return whenEmpty() }
        for port in ports { port.execute { $0.startDraining() } }
    }

    /// Closes every connection at once.
    func closeAll() {
        let ports = state.withLock { Array($0.connections.values) }
        for port in ports { port.execute { $0.closeNow() } }
    }

    /// Metrics for `stats`.
    var statistics: [Statistic] {
        state.withLock { state in
            [
                Statistic("connections", .int(Int64(state.count))),
                Statistic("connectionsOpened", .int(Int64(state.opened))),
                Statistic("connectionsRefused", .int(Int64(state.refused))),
                Statistic("queuedBytes", .int(Int64(state.queuedBytes))),
            ]
        }
    }
}
