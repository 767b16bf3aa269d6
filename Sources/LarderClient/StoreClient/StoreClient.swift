public import LarderModel
public import LarderWire

/// A connection to a store that `larderd` serves: calls, streams, and their reconnection.
///
/// One client may be used from any number of threads and tasks at once. Their requests share one
/// socket and do not wait for each other's answers. Every call has a blocking form, which costs no
/// change of thread, and an `async` form of the same name, which never blocks a thread of Swift's
/// pool.
///
/// When the server goes away, calls wait up to `Options.reconnectWait` for it to come back. Reads
/// are then asked again, and so are writes that had not been sent or have an idempotency key. Any
/// other write that had been sent and whose answer was lost ends in ``ErrorCode/indeterminate`` and
/// is never repeated: it may or may not have happened.
public final class StoreClient: Sendable {
    /// How a client introduces itself and how long it waits.
    public struct Options: Sendable {
        /// What the server's log calls this client: a program's name.
        public var clientName = "larder-client"
        /// Who makes the changes, for the history; of a change set that names no author itself.
        public var author = ""
        /// The schema version that this program was built for; empty for any.
        public var schemaVersion = ""
        /// How long a call may take, reconnection included; for a stream, how long one batch may.
        public var requestTimeout: Duration = .seconds(30)
        /// How long connecting and the handshake may take together.
        public var connectTimeout: Duration = .seconds(5)
        /// How long a call waits for a server that went away; zero never reconnects.
        public var reconnectWait: Duration = .seconds(10)

        public init() {}
    }

    let session: Session

    init(session: Session) { self.session = session }

    deinit { session.close() }

    /// Connects to the socket at this path and introduces itself.
    ///
    /// - Throws: `connectionFailed` with a hint if nobody serves there, `permissionDenied` if the
    ///   socket may not be used, `unsupportedVersion`, `schemaMismatch`, and what else the server
    ///   refuses a connection with.
    public static func connect(
        to path: String, options: Options = Options()
    ) throws(LarderError) -> StoreClient {
        StoreClient(session: try Session(path: path, options: options))
    }

    /// Takes over a connected socket: a socketpair's end, or one that another process handed over.
    ///
    /// The client owns the descriptor from here on, and closes it even if this throws. It cannot
    /// reconnect.
    public static func adopt(
        connectedSocket: Int32, options: Options = Options()
    ) throws(LarderError) -> StoreClient {
        StoreClient(session: try Session(adopting: connectedSocket, options: options))
    }

    /// What the server of the current connection said of itself and its store.
    public var welcome: Welcome { session.welcome }

    /// Ends the connection. Calls that wait fail with `connectionFailed`, or `indeterminate` for a
    /// write that had been sent; so do all later ones.
    public func close() { session.close() }
}
