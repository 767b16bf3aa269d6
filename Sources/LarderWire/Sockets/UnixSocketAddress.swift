internal import Glibc
package import LarderModel

/// The address of a Unix socket: a path, or an abstract name if it begins with a zero byte.
///
/// It makes the system calls that take an address, so that the address's memory never leaves this
/// type.
package struct UnixSocketAddress: Sendable {
    /// The longest path or abstract name, in UTF-8 bytes. A path also needs a zero byte at its end.
    package static let pathBytesMax = 107

    private let address: sockaddr_un
    /// The bytes of the address in use. A path ends with a zero byte, an abstract name does not.
    private let length: socklen_t

    /// - Throws: `malformedValue` for a path that is empty, too long, or contains a zero byte after
    ///   its first byte.
    package init(path: String) throws(LarderError) {
        let bytes = Array(path.utf8)
        guard !bytes.isEmpty else {
            throw LarderError(.malformedValue, "the socket path is empty")
        }
        guard bytes.count <= Self.pathBytesMax else {
            throw LarderError(
                .malformedValue,
                "the socket path has \(bytes.count) bytes; the maximum is \(Self.pathBytesMax)",
                hint: "use a shorter path, for example one under /run or /tmp")
        }
        guard !bytes.dropFirst().contains(0) else {
            throw LarderError(.malformedValue, "the socket path contains a zero byte")
        }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        self.address = address
        let isAbstract = bytes.first == 0
        length = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count + (isAbstract ? 0 : 1))
    }

    /// The address to which a socket is bound; nil if that has no path.
    package init?(boundTo descriptor: Int32) {
        var address = sockaddr_un()
        var length = socklen_t(MemoryLayout<sockaddr_un>.size)
        let status = withUnsafeMutableBytes(of: &address) {
            getsockname(
                descriptor, $0.baseAddress?.assumingMemoryBound(to: sockaddr.self), &length)
        }
        guard status == 0, address.sun_family == sa_family_t(AF_UNIX), address.sun_path.0 != 0,
            length > socklen_t(MemoryLayout<sa_family_t>.size)
        else { return nil }
        self.address = address
        self.length = length
    }

    /// The path, without a zero byte at its end.
    package var path: String {
        withUnsafeBytes(of: address.sun_path) { bytes in
            String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
    }

    package func connect(_ descriptor: Int32) throws(SystemError) {
        let status = withUnsafeBytes(of: address) {
            Glibc.connect(
                descriptor, $0.baseAddress?.assumingMemoryBound(to: sockaddr.self), length)
        }
        guard status == 0 else { throw SystemError(code: errno) }
    }

    package func bind(_ descriptor: Int32) throws(SystemError) {
        let status = withUnsafeBytes(of: address) {
            Glibc.bind(
                descriptor, $0.baseAddress?.assumingMemoryBound(to: sockaddr.self), length)
        }
        guard status == 0 else { throw SystemError(code: errno) }
    }

    /// Sends one datagram to this address.
    package func send(_ bytes: [UInt8], over descriptor: Int32) throws(SystemError) {
        let count = withUnsafeBytes(of: address) {
            sendto(
                descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL),
                $0.baseAddress?.assumingMemoryBound(to: sockaddr.self), length)
        }
        guard count == bytes.count else { throw SystemError(code: errno) }
    }
}
