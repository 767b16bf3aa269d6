import FoundationEssentials
import Glibc
import TestSupport
import Testing

/// A new path for a socket. The socket is removed when this object is released.
///
/// The path has no folder of its own, because the folder would stay if the run ended while a
/// server's thread used this object. The socket is also removed when the server is stopped.
final class TemporarySocketPath: Sendable {
    let path = "/tmp/larder-client-\(UUID().uuidString)"

    deinit { unlink(path) }

    /// A socket that listens at the path, and replaces an earlier one.
    func listen(backlog: Int32) throws -> Int32 {
        let listener = try boundSocket(SOCK_STREAM, at: path)
        try #require(Glibc.listen(listener, backlog) == 0)
        return listener
    }
}
