import FoundationEssentials
import Glibc
import TestSupport
import Testing

/// A path for a socket, where nothing was before, and nothing is when nobody holds this.
///
/// It is in no folder of its own, which would stay if the run ended while a server's thread still
/// held this; the socket itself is removed when the server is stopped.
final class SocketPlace: Sendable {
    let path = "/tmp/larder-client-\(UUID().uuidString)"

    deinit { unlink(path) }

    /// A socket that listens at the path, in place of any that did before.
    func listen(backlog: Int32) throws -> Int32 {
        let listener = try boundSocket(SOCK_STREAM, at: path)
        try #require(Glibc.listen(listener, backlog) == 0)
        return listener
    }
}
