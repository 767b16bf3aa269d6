import FoundationEssentials
import Glibc
import LarderModel
internal import LarderWire

/// Where a session gets its connections from: the socket at a path, or a function of the program,
/// which may start the server itself.
package struct Connector: Sendable {
    /// A connected stream socket, and the store that its server must serve; nil for any.
    package struct ConnectedSocket: Sendable {
        let descriptor: Int32
        let store: UUID?

        package init(_ descriptor: Int32, servingStore store: UUID? = nil) {
            self.descriptor = descriptor
            self.store = store
        }

        /// Connects to the socket at a path.
        ///
        /// - Parameter trusts: Whether a server of this user is used.
        /// - Throws: `connectionFailed`, `permissionDenied`, `resourceExhausted`.
        package static func connect(
            to path: String, within time: Duration, servingStore store: UUID?,
            ofUser trusts: (UInt32) -> Bool
        ) throws(LarderError) -> ConnectedSocket {
            let descriptor = try Socket.connectedDescriptor(to: path, until: .after(time))
            guard let user = Socket.peerUser(of: descriptor), trusts(user) else {
                close(descriptor)
                throw LarderError(
                    .permissionDenied, "the server at \(path) belongs to another user")
            }
            return ConnectedSocket(descriptor, servingStore: store)
        }
    }

    /// Connects within a time. The caller takes ownership of the descriptor.
    package typealias Open = @Sendable (Duration) throws(LarderError) -> ConnectedSocket

    private enum Kind: Sendable {
        case path(String)
        case program(Open)
    }

    private let kind: Kind

    /// Connects to the socket at a path.
    package init(path: String) { kind = .path(path) }

    package init(_ open: @escaping Open) { kind = .program(open) }

    /// Connects and performs the handshake, blocking.
    func connect(_ options: StoreClient.Options) throws(LarderError) -> Connection {
        let deadline = MonotonicInstant.after(options.connectTimeout)
        switch kind {
        case .path(let path):
            let socket = try Socket.connect(
                to: path, until: deadline, requestTimeout: options.requestTimeout)
            return try Connection(handshakeOver: socket, options: options, until: deadline)
        case .program(let open):
            let connected = try open(options.connectTimeout)
            let socket = try Socket.adopt(
                connected.descriptor, requestTimeout: options.requestTimeout)
            let connection = try Connection(
                handshakeOver: socket, options: options, until: deadline)
            guard connected.store == nil || connected.store == connection.welcome.storeIdentifier
            else {
                connection.end(.clientClosed)
                throw LarderError(.connectionFailed, "the server serves another store now")
            }
            return connection
        }
    }

    /// The longest pause between two attempts. A program that starts the server itself must notice
    /// soon that there is none.
    var pauseMax: Duration {
        switch kind {
        case .path: Backoff.pauseMax
        case .program: .milliseconds(50)
        }
    }

    /// Whether the first connection is tried again. There may be no server at a path, but a program
    /// finds one or starts it.
    func triesFirstAgain(after error: LarderError) -> Bool {
        switch kind {
        case .path: error.code == .unavailable
        case .program: Self.mayTryAgain(after: error)
        }
    }

    /// Whether the next attempt may succeed.
    static func mayTryAgain(after error: LarderError) -> Bool {
        switch error.code {
        case .connectionFailed, .unavailable, .timeout, .resourceExhausted, .storeInUse: true
        default: false
        }
    }
}
