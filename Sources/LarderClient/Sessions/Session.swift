import FoundationEssentials
import LarderModel
internal import LarderWire

/// What a client holds on to while connections come and go: the address, the store's identity, and
/// the connection that is current.
///
/// A connection that was lost is replaced when somebody asks for it, by a thread that tries until
/// it succeeds, is refused, or nobody waits any more (`Session+Reconnection.swift`).
final class Session: Sendable {
    let options: StoreClient.Options
    /// nil if the socket was handed over: there is nothing to connect to again.
    let path: String?
    let monitor: Monitor<State>
    /// Signalled when a connection is there, cannot be had, or the session is closed.
    let changed = Condition()

    struct State {
        /// nil while there is none that serves.
        var current: Connection?
        /// What the current connection's server said, or the last one's.
        var welcome: Welcome
        /// Replaced, and still owed answers.
        var retired: [Connection] = []
        var isClosed = false
        var reconnection = Reconnection()
        /// The schema that was read last, and the fingerprint under which it was served.
        var schema: (fingerprint: String, schema: Schema)?
    }

    convenience init(path: String, options: StoreClient.Options) throws(LarderError) {
        self.init(
            connection: try Session.connect(to: path, options: options), path: path,
            options: options)
    }

    convenience init(adopting descriptor: Int32, options: StoreClient.Options) throws(LarderError) {
        let socket = try Socket.adopt(descriptor, requestTimeout: options.requestTimeout)
        let connection = try Connection(
            greetingOver: socket, options: options, until: .after(options.connectTimeout))
        self.init(connection: connection, path: nil, options: options)
    }

    private init(connection: Connection, path: String?, options: StoreClient.Options) {
        self.options = options
        self.path = path
        monitor = Monitor(State(current: connection, welcome: connection.welcome))
    }

    static func connect(
        to path: String, options: StoreClient.Options
    ) throws(LarderError) -> Connection {
        let deadline = Moment.after(options.connectTimeout)
        let socket = try Socket.connect(
            to: path, until: deadline, requestTimeout: options.requestTimeout)
        return try Connection(greetingOver: socket, options: options, until: deadline)
    }

    var welcome: Welcome { monitor.withLock { $0.welcome } }

    /// How long calls may wait for the server to come back.
    var reconnectWait: Duration { path == nil ? .zero : options.reconnectWait.waiting }

    /// The schema, if it was read from the server that is connected now.
    var knownSchema: Schema? {
        monitor.withLock { state in
            guard let known = state.schema, state.current?.hasEnded == false,
                known.fingerprint == state.welcome.schemaFingerprint
            else { return nil }
            return known.schema
        }
    }

    func remember(_ schema: Schema, fingerprint: String) {
        monitor.withLock { $0.schema = (fingerprint, schema) }
    }

    func close() {
        let connections = update { state -> [Connection] in
            state.isClosed = true
            defer { (state.current, state.retired) = (nil, []) }
            return state.retired + (state.current.map { [$0] } ?? [])
        }
        for connection in connections { connection.end(.clientClosed) }
    }
}

extension LarderError {
    static var clientClosed: LarderError {
        LarderError(.connectionFailed, "this client has been closed")
    }
}
