import Glibc
import LarderModel
import NIOCore

/// The system calls on Unix sockets that NIO has no functions for.
enum UnixSocket {
    /// The length of `sun_path`, less the zero byte after a path.
    static let pathBytesMax = 107

    /// - Parameter path: A path, or an abstract name, which begins with a zero byte.
    static func address(of path: String) throws(LarderError) -> (SocketAddress, length: Int) {
        let bytes = Array(path.utf8)
        guard !bytes.isEmpty else {
            throw LarderError(.malformedValue, "the path of the socket is empty")
        }
        guard bytes.count <= pathBytesMax else {
            throw LarderError(
                .malformedValue,
                "the path of the socket has \(bytes.count) bytes; the maximum is \(pathBytesMax)",
                hint: "use a shorter path, for example one under /run or /tmp")
        }
        guard bytes.first == 0 || !bytes.contains(0) else {
            throw LarderError(.malformedValue, "the path of the socket contains a zero byte")
        }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        // A path ends with a zero; an abstract name with its last byte.
        let isAbstract = bytes.first == 0
        let length = MemoryLayout<sa_family_t>.size + bytes.count + (isAbstract ? 0 : 1)
        return (SocketAddress(address), length)
    }

    static func make(_ type: __socket_type) throws(LarderError) -> Int32 {
        let flags = Int32(SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let descriptor = socket(AF_UNIX, Int32(type.rawValue) | flags, 0)
        guard descriptor >= 0 else { throw failure("cannot create a socket") }
        return descriptor
    }

    static func bind(_ descriptor: Int32, to path: String) throws(LarderError) {
        let (address, length) = try address(of: path)
        let status = address.withSockAddr { pointer, _ in
            Glibc.bind(descriptor, pointer, socklen_t(length))
        }
        guard status == 0 else { throw failure("cannot listen at \(path)") }
    }

    /// Whether a process listens there. EAGAIN means that its queue is full.
    static func isListening(at path: String) throws(LarderError) -> Bool {
        let (address, length) = try address(of: path)
        let descriptor = try make(SOCK_STREAM)
        defer { close(descriptor) }
        let status = address.withSockAddr { pointer, _ in
            connect(descriptor, pointer, socklen_t(length))
        }
        return status == 0 || errno == EAGAIN
    }

    static func send(_ bytes: [UInt8], over descriptor: Int32, to path: String) throws(LarderError)
    {
        let (address, length) = try address(of: path)
        let sent = address.withSockAddr { pointer, _ in
            sendto(
                descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL), pointer,
                socklen_t(length))
        }
        guard sent == bytes.count else { throw failure("cannot notify the service manager") }
    }

    static func option(_ name: Int32, of descriptor: Int32) -> Int32? {
        var value: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        return getsockopt(descriptor, SOL_SOCKET, name, &value, &length) == 0 ? value : nil
    }

    /// The error of the system call that has just failed, from `errno`.
    static func failure(_ message: String) -> LarderError {
        let error = SystemError(code: errno)
        let isDenied = [EACCES, EPERM, EROFS].contains(error.code)
        return LarderError(
            isDenied ? .permissionDenied : .connectionFailed, "\(message): \(error.text)")
    }
}
