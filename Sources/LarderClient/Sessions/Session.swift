import FoundationEssentials
import LarderModel
internal import LarderWire

/// A client's state across connections: where they come from, the store's identity, and the current
/// connection.
///
/// When a caller needs a connection and the current one is lost, a thread tries to connect until it
/// succeeds, is refused, or no caller waits any more (`Session+Reconnection.swift`).
final class Session: Sendable {
    let options: StoreClient.Options
    /// nil if the client adopted a connected socket, and so cannot reconnect.
    let connector: Connector?
    /// The snapshot that all reads of this session see; nil if they read the latest state.
    let snapshot: PinnedSnapshot?
    let monitor: Monitor<State>
    /// Signalled when there is a connection, when there can be none, and when the session is
    /// closed.
    let changed = Condition()

    struct State {
        /// nil while there is no usable connection.
        var current: Connection?
        /// The welcome of the current connection, or of the last one.
        var welcome: Welcome
        /// Replaced connections with calls in flight.
        var retired: [Connection] = []
        var isClosed = false
        var reconnection = Reconnection()
        /// The last schema that the client read, and its fingerprint.
        var schema: (fingerprint: String, schema: Schema)?
    }

    convenience init(
        _ connector: Connector, options: StoreClient.Options
    ) throws(LarderError) {
        self.init(
            connection: try Session.firstConnection(connector, options: options),
            connector: connector, options: options)
    }

    /// Waits while the server is unavailable, as during a migration.
    private static func firstConnection(
        _ connector: Connector, options: StoreClient.Options
    ) throws(LarderError) -> Connection {
        let deadline = MonotonicInstant.after(options.connectTimeout)
        var backoff = Backoff()
        while true {
            do throws(LarderError) {
                return try connector.connect(options)
            } catch {
                let pause = min(backoff.next(), connector.pauseMax)
                let pauseEnd = MonotonicInstant.now.advanced(by: pause)
                guard connector.triesFirstAgain(after: error), pauseEnd < deadline else {
                    throw error
                }
                pauseEnd.sleep()
            }
        }
    }

    convenience init(adopting descriptor: Int32, options: StoreClient.Options) throws(LarderError) {
        let socket = try Socket.adopt(descriptor, requestTimeout: options.requestTimeout)
        let connection = try Connection(
            handshakeOver: socket, options: options, until: .after(options.connectTimeout))
        self.init(connection: connection, connector: nil, options: options)
    }

    private init(
        connection: Connection, connector: Connector?, options: StoreClient.Options
    ) {
        self.options = options
        self.connector = connector
        snapshot = nil
        monitor = Monitor(State(current: connection, welcome: connection.welcome))
    }

    /// A session that reads a snapshot over the connection of another session.
    init(reading snapshot: PinnedSnapshot, options: StoreClient.Options) {
        self.options = options
        self.snapshot = snapshot
        connector = nil
        monitor = Monitor(
            State(current: snapshot.connection, welcome: snapshot.connection.welcome))
    }

    var isClosed: Bool { monitor.withLock { $0.isClosed } }

    var welcome: Welcome { monitor.withLock { $0.welcome } }

    /// How long calls wait for a new connection.
    var reconnectWait: Duration {
        connector == nil ? .zero : options.reconnectWait.clampedToWait
    }

    /// The schema, if the client has read it from the current server.
    var cachedSchema: Schema? {
        monitor.withLock { state in
            guard let cached = state.schema, state.current?.hasEnded == false,
                cached.fingerprint == state.welcome.schemaFingerprint
            else { return nil }
            return cached.schema
        }
    }

    /// Reads the schema again when it is needed next, because the store has another one.
    func forgetSchema() { monitor.withLock { $0.schema = nil } }

    func cache(_ schema: Schema, fingerprint: String) {
        monitor.withLock { $0.schema = (fingerprint, schema) }
    }

    func close() {
        let connections = update { state -> [Connection] in
            state.isClosed = true
            defer { (state.current, state.retired) = (nil, []) }
            return state.retired + (state.current.map { [$0] } ?? [])
        }
        if let snapshot {
            // The connection belongs to the session that opened the snapshot.
            snapshot.connection.cancel(snapshot.id)
        } else {
            for connection in connections { connection.end(.clientClosed) }
        }
    }
}

extension LarderError {
    static var clientClosed: LarderError {
        LarderError(.connectionFailed, "the client is closed")
    }
}

/// A snapshot that a server has opened for one connection.
struct PinnedSnapshot: Sendable {
    let connection: Connection
    let id: UInt64
    /// The position after the last transaction that it contains.
    let position: HistoryToken
}
