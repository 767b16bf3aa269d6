public import LarderModel

/// A connection to a store that `larderd` serves: calls, streams, and reconnection.
///
/// Any number of threads and tasks may use one client at the same time. Their requests share one
/// socket and do not wait for each other's replies. Every call has a blocking form and an `async`
/// form of the same name. The blocking form reads the socket in the calling thread, without a
/// switch of threads. The `async` form never blocks a thread of Swift's pool.
///
/// Every call throws `LarderError` and nothing else. Besides the errors that its documentation
/// lists, any call may throw:
///
/// - `connectionFailed` if the connection is lost and no new one can be made in time, or after
///   ``close()``;
/// - `timeout` if there is no reply within `Options.requestTimeout`;
/// - `cancelled`, in the `async` form, if the task is cancelled;
/// - `indeterminate`, for a write that was sent and whose reply was lost: the server may or may not
///   have executed it;
/// - `resourceExhausted`, `storageFailed` and other errors of the server; see `ErrorCode`.
///
/// When the connection is lost, calls wait up to `Options.reconnectWait` for a new one. Reads are
/// then retried, and so are writes that were not sent or have an idempotency key. No other write is
/// ever sent twice.
public final class StoreClient: Sendable {
    /// The names that a client gives in the handshake, and its time limits.
    public struct Options: Sendable {
        /// The client's name in the server's log, such as the name of the program.
        public var clientName = "larder-client"
        /// The author that the history records for change sets without an author of their own.
        public var author = ""
        /// The schema version that this program was built for; empty accepts every version.
        ///
        /// The client keeps this version of the schema, also over new connections: after a
        /// migration that only adds to the schema, the server shows it the store as it was. After
        /// any other migration calls throw `schemaMismatch`. A client without an expected schema
        /// gets the current one with each new connection; ``StoreClient/server`` says which.
        public var schemaVersion = ""
        /// The fingerprint of the schema that this program was built for (`Schema.fingerprint`), in
        /// the same sense; empty accepts every schema of the version.
        public var schemaFingerprint = ""
        /// The id of requests for the server's log, such as the W3C traceparent of a command; empty
        /// for none. ``StoreClient/withTrace(_:_:)`` sets it for single requests.
        public var trace = ""
        /// The key of the migration session to which the client belongs; empty for none. Programs
        /// that perform a stage of `larder migrate` find it in `LARDER_MIGRATION_SESSION`.
        public var migrationSession = ""
        /// The time limit of a call, including reconnection; in a stream, of each batch.
        public var requestTimeout: Duration = .seconds(30)
        /// The time limit of a whole stream of batches, from the query to the last batch; nil for
        /// none. A server could send batches without an end.
        public var streamTimeout: Duration?
        /// The time limit of connecting and the handshake together, and of trying again while the
        /// server is unavailable.
        public var connectTimeout: Duration = .seconds(5)
        /// How long a call waits for a new connection after a loss; zero never reconnects.
        public var reconnectWait: Duration = .seconds(10)

        public init() {}

        var expectsSchema: Bool { !schemaVersion.isEmpty || !schemaFingerprint.isEmpty }
    }

    let session: Session
    /// An object that lives as long as the client, such as a server of its own; nil for none.
    private let companion: (any AnyObject & Sendable)?

    init(session: Session, keeping companion: (any AnyObject & Sendable)? = nil) {
        self.session = session
        self.companion = companion
    }

    deinit { session.close() }

    /// Connects to the socket at this path and performs the handshake, blocking. It waits for at
    /// most `Options.connectTimeout` while the server is unavailable, as during a migration.
    ///
    /// - Throws: `connectionFailed` if no server listens there, `permissionDenied` if this user may
    ///   not use the socket, `unsupportedVersion`, `schemaMismatch`, and other errors with which
    ///   the server refuses a connection.
    public static func connect(
        to path: String, options: Options = Options()
    ) throws(LarderError) -> StoreClient {
        StoreClient(session: try Session(Connector(path: path), options: options))
    }

    /// Connects by a function of the program, which also makes each new connection after a loss.
    package static func connect(
        by connector: Connector, options: Options
    ) throws(LarderError) -> StoreClient {
        StoreClient(session: try Session(connector, options: options))
    }

    /// Performs the handshake over a connected socket, such as an end of a socket pair, blocking.
    ///
    /// The client takes ownership of the descriptor, and closes it even if this throws. The client
    /// cannot reconnect.
    ///
    /// - Throws: as `connect(to:options:)` does; `connectionFailed` if the descriptor
    ///   is not a connected stream socket.
    public static func adopt(
        connectedSocket: Int32, options: Options = Options()
    ) throws(LarderError) -> StoreClient {
        StoreClient(session: try Session(adopting: connectedSocket, options: options))
    }

    /// As the other form does; the client keeps an object alive.
    package static func adopt(
        connectedSocket: Int32, options: Options, keeping companion: any AnyObject & Sendable
    ) throws(LarderError) -> StoreClient {
        StoreClient(
            session: try Session(adopting: connectedSocket, options: options),
            keeping: companion)
    }

    /// The server and the schema of the current connection, or of the last one if the connection is
    /// lost.
    public var server: ServerDescription { ServerDescription(session.welcome) }

    /// Ends the connection. Waiting calls throw `connectionFailed`, or `indeterminate` if they are
    /// writes that were sent. Later calls throw `connectionFailed`.
    public func close() { session.close() }
}
