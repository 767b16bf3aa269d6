import Glibc

/// A Unix socket of this type, bound to the path in place of any that was there before.
///
/// The caller closes it.
///
/// - Parameter path: Of at most 107 bytes, in UTF-8.
/// - Throws: ``UnboundSocket``, with the system's error number.
public func boundSocket(_ type: __socket_type, at path: String) throws -> Int32 {
    let descriptor = socket(AF_UNIX, Int32(type.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw UnboundSocket(path: path, number: errno) }
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
        let number = errno
        close(descriptor)
        throw UnboundSocket(path: path, number: number)
    }
    return descriptor
}

/// A socket that could not be made, or not bound.
public struct UnboundSocket: Error {
    public let path: String
    public let number: Int32
}
