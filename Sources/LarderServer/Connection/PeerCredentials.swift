import Glibc
import NIOCore

/// Who is at the other end of a Unix socket, as the kernel knows it (SO_PEERCRED).
///
/// The fields and their order are the kernel's `struct ucred`.
struct PeerCredentials: Hashable, Sendable {
    var processIdentifier: Int32 = 0
    var userIdentifier: UInt32 = 0
    var groupIdentifier: UInt32 = 0

    /// - Returns: nil where the kernel does not tell, as for a socket that is not a Unix socket.
    static func read(from channel: any Channel) -> EventLoopFuture<PeerCredentials?> {
        guard let provider = channel as? any SocketOptionProvider else {
            return channel.eventLoop.makeSucceededFuture(nil)
        }
        let answer: EventLoopFuture<PeerCredentials> = provider.unsafeGetSocketOption(
            level: .socket, name: NIOBSDSocket.Option(rawValue: SO_PEERCRED))
        return answer.map { credentials in
            // A process of no user (-1) is what the kernel says of an unconnected socket.
            credentials.userIdentifier == .max ? nil : credentials
        }.flatMapErrorThrowing { _ in nil }
    }
}
