import Glibc
import NIOCore

/// The process at the other end of a Unix socket, from the kernel (SO_PEERCRED).
///
/// The fields and their order are those of the kernel's `struct ucred`.
package struct PeerCredentials: Hashable, Sendable {
    var processIdentifier: Int32 = 0
    var userIdentifier: UInt32 = 0
    var groupIdentifier: UInt32 = 0

    /// - Returns: nil if the kernel has no credentials, as for a socket that is not a Unix socket.
    static func read(from channel: any Channel) -> EventLoopFuture<PeerCredentials?> {
        guard let provider = channel as? any SocketOptionProvider else {
            return channel.eventLoop.makeSucceededFuture(nil)
        }
        let option: EventLoopFuture<PeerCredentials> = provider.unsafeGetSocketOption(
            level: .socket, name: NIOBSDSocket.Option(rawValue: SO_PEERCRED))
        return option.map { credentials in
            // The kernel returns the user id -1 for an unconnected socket.
            credentials.userIdentifier == .max ? nil : credentials
        }.flatMapErrorThrowing { _ in nil }
    }
}

extension PeerCredentials {
    /// A user whose process is not known.
    package init(user: UInt32) { self.init(userIdentifier: user) }
}
