import Glibc

/// Creates a Unix socket and binds it to a path, replacing any existing socket.
///
/// The caller closes the descriptor.
///
/// - Parameter path: At most 107 bytes of UTF-8.
/// - Throws: ``SocketSetupError``.
public func boundSocket(_ type: __socket_type, at path: String) throws -> Int32 {
    let descriptor = socket(AF_UNIX, Int32(type.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw SocketSetupError(path: path, code: errno) }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    unlink(path)
    let status = withUnsafeBytes(of: &address) {
        bind(
            descriptor, $0.baseAddress?.assumingMemoryBound(to: sockaddr.self),
            socklen_t($0.count))
    }
    guard status == 0 else {
        let code = errno
        close(descriptor)
        throw SocketSetupError(path: path, code: code)
    }
    return descriptor
}

/// A socket that could not be created or bound, with the `errno` of the failure.
public struct SocketSetupError: Error {
    public let path: String
    public let code: Int32
}
