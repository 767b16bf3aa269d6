import LarderModel
import NIOCore
import Synchronization

/// The open connections, and what their users share: the number of connections, of handshakes under
/// way, and the memory.
///
/// Its lock is taken when a connection opens, completes its handshake, has waiting bytes or closes;
/// never for a request that gets its reply at once.
final class ConnectionRegistry: Sendable {
    /// An open connection with its number, from 1.
    struct OpenConnection: Sendable {
        let number: Int
        let port: ConnectionPort
    }

    private struct State {
        var open: [ObjectIdentifier: OpenConnection] = [:]
        var connections: UserShares
        var handshakes: UserShares
        var memory: UserShares
        /// Streams that follow the history.
        var followers: UserShares
        var opened = 0
        var refused = 0
        /// Why no more connections are admitted; nil if they are.
        var refusal: LarderError?
        /// Called when no connection but one is left.
        var whenDrained: (left: ObjectIdentifier?, call: @Sendable () -> Void)?

        func isDrained(leaving left: ObjectIdentifier?) -> Bool {
            open.isEmpty || open.count == 1 && left.map { open[$0] != nil } == true
        }
    }

    private let connectionsMax: Int
    private let state: Mutex<State>
    /// Called each time the last connection has closed.
    private let becameEmpty: @Sendable () -> Void

    init(
        limits: ServerLimits, descriptorLimit: Int, becameEmpty: @escaping @Sendable () -> Void
    ) {
        self.connectionsMax = limits.connectionsMax(descriptorLimit: descriptorLimit)
        self.state = Mutex(
            State(
                connections: UserShares(limits.connections),
                handshakes: UserShares(limits.handshakes), memory: UserShares(limits.memory),
                followers: UserShares(limits.followers)))
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
            state.opened += 1
            state.open[port.identity] = OpenConnection(number: state.opened, port: port)
            state.connections.add(1, to: user)
            state.handshakes.add(1, to: user)
            return nil
        }
    }

    private func refusal(_ state: borrowing State, user: UInt32) -> LarderError? {
        if let refusal = state.refusal { return refusal }
        if !state.connections.allows(1, for: user, total: connectionsMax) {
            return exhausted(
                "user \(user) has \(state.connections.used(by: user)) connections, its share of "
                    + "the \(connectionsMax) that the server accepts")
        }
        if !state.handshakes.allows(1, for: user) {
            return exhausted(
                "\(state.handshakes.used(by: user)) connections of user \(user) have not sent a "
                    + "handshake yet")
        }
        return nil
    }

    private func exhausted(_ message: String) -> LarderError {
        LarderError(
            .resourceExhausted, message, hint: "close idle connections, then try again")
    }

    func handshakeEnded(of user: UInt32) {
        state.withLock { $0.handshakes.add(-1, to: user) }
    }

    /// - Parameter memory: The bytes that are still charged for the connection.
    func close(_ port: ConnectionPort, user: UInt32, memory: Int) {
        let (isEmpty, whenDrained) = state.withLock { state in
            state.open[port.identity] = nil
            state.connections.add(-1, to: user)
            state.memory.add(-memory, to: user)
            let isEmpty = state.open.isEmpty
            guard let drained = state.whenDrained, state.isDrained(leaving: drained.left) else {
                return (isEmpty, nil as (@Sendable () -> Void)?)
            }
            state.whenDrained = nil
            return (isEmpty, drained.call)
        }
        if isEmpty { becameEmpty() }
        whenDrained?()
    }

    /// Adds bytes to a user's memory, or subtracts them if negative.
    ///
    /// - Returns: false if the user has more than its share. The bytes are added all the same.
    func charge(_ bytes: Int, to user: UInt32) -> Bool {
        state.withLock { state in
            state.memory.add(bytes, to: user)
            return state.memory.allows(0, for: user)
        }
    }

    /// Counts a stream that follows the history, or returns why it is refused.
    func followerBegins(of user: UInt32) -> LarderError? {
        state.withLock { state in
            guard !state.followers.take(1, for: user) else { return nil }
            return LarderError(
                .resourceExhausted,
                "user \(user) has \(state.followers.used(by: user)) streams that follow the "
                    + "history, its share of the \(state.followers.limit.total) that the server "
                    + "accepts",
                hint: "cancel some of them, or use one stream for several readers")
        }
    }

    func followerEnded(of user: UInt32) { state.withLock { $0.followers.add(-1, to: user) } }

    /// Whether other users are connected.
    func hasUsers(besides user: UInt32) -> Bool {
        state.withLock { $0.connections.used > $0.connections.used(by: user) }
    }

    var isEmpty: Bool { state.withLock { $0.connections.used == 0 } }

    /// Lets every connection complete its requests and close, and admits no more connections.
    ///
    /// - Parameters:
    ///   - reason: The error for new connections. Its text may change while they are refused.
    ///   - left: A connection that may stay until it has its reply.
    ///   - whenDrained: Called once, when the others have closed.
    func drain(
        refusing reason: LarderError = ConnectionState.stopping,
        leaving left: ConnectionPort? = nil, whenDrained: @escaping @Sendable () -> Void
    ) {
        let (ports, isDrained) = state.withLock { state in
            state.refusal = reason
            let isDrained = state.isDrained(leaving: left?.identity)
            state.whenDrained = isDrained ? nil : (left?.identity, whenDrained)
            return (state.open.values.map(\.port), isDrained)
        }
        for port in ports { port.execute { $0.startDraining(ConnectionState.stopping) } }
        if isDrained { whenDrained() }
    }

    /// Changes the error for new connections.
    func refuse(_ reason: LarderError) { state.withLock { $0.refusal = reason } }

    /// Closes every connection at once, except one.
    func closeAll(except left: ConnectionPort? = nil) {
        for connection in open where connection.port.identity != left?.identity {
            connection.port.execute { $0.closeNow() }
        }
    }

    /// Ends what runs for all connections, except one. They still get the errors.
    func interruptAll(except left: ConnectionPort? = nil) {
        for connection in open where connection.port.identity != left?.identity {
            connection.port.execute { $0.interrupt() }
        }
    }

    /// The open connections, in any order.
    var open: [OpenConnection] { state.withLock { Array($0.open.values) } }

    /// The memory of the waiting requests and replies of each user.
    var memoryByUser: [(user: UInt32, amount: Int)] { state.withLock { $0.memory.amounts } }

    /// Metrics for `stats`.
    var statistics: [Statistic] {
        state.withLock { state in
            [
                Statistic("connections", .int(Int64(state.connections.used))),
                Statistic("connectionsMax", .int(Int64(connectionsMax))),
                Statistic("connectionsOpened", .int(Int64(state.opened))),
                Statistic("connectionsRefused", .int(Int64(state.refused))),
                Statistic("historyFollowers", .int(Int64(state.followers.used))),
                Statistic("requestMemoryBytes", .int(Int64(state.memory.used))),
                Statistic("requestMemoryBytesMax", .int(Int64(state.memory.limit.total))),
            ]
        }
    }
}
