import Glibc
import LarderModel

extension Socket {
    /// The longest path that a socket's address holds, in bytes.
    static let pathBytesMax = 107

    /// Connects to the socket at this path.
    ///
    /// A server whose backlog is full is waited for until the deadline.
    static func connect(
        to path: String, until deadline: Moment, requestTimeout: Duration
    ) throws(LarderError) -> Socket {
        var address = try socketAddress(path)
        let descriptor = socket(
            AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else {
            throw LarderError(
                .resourceExhausted, "no socket can be made: \(systemMessage(errno))")
        }
        let socket = Socket(descriptor: descriptor, requestTimeout: requestTimeout)
        while true {
            // Connecting to a full backlog waits as long as sending may, then gives EAGAIN.
            _ = limitTime(of: SO_SNDTIMEO, on: descriptor, to: deadline.remaining)
            let status = withUnsafeBytes(of: &address) { bytes in
                Glibc.connect(
                    descriptor, bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self),
                    socklen_t(bytes.count))
            }
            if status == 0 { return socket }
            let number = errno
            guard number == EINTR || number == EAGAIN, !deadline.isPast else {
                throw refusal(number, path)
            }
        }
    }

    /// Takes over a descriptor that is connected already, and closes it if it is no stream socket.
    static func adopt(_ descriptor: Int32, requestTimeout: Duration) throws(LarderError) -> Socket {
        let flags = fcntl(descriptor, F_GETFL)
        guard flags >= 0 else {
            throw LarderError(
                .connectionFailed, "descriptor \(descriptor) is not open",
                hint: "hand over a connected stream socket")
        }
        let socket = Socket(descriptor: descriptor, requestTimeout: requestTimeout)
        var kind: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        let status = getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &kind, &size)
        guard status == 0, kind == Int32(SOCK_STREAM.rawValue) else {
            throw LarderError(
                .connectionFailed, "descriptor \(descriptor) is not a stream socket",
                hint: "hand over a connected stream socket")
        }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        _ = fcntl(descriptor, F_SETFL, flags & ~O_NONBLOCK)
        return socket
    }

    private static func socketAddress(_ path: String) throws(LarderError) -> sockaddr_un {
        guard !path.isEmpty, !path.utf8.contains(0) else {
            throw LarderError(
                .connectionFailed,
                path.isEmpty ? "the socket path is empty" : "the socket path holds a zero byte")
        }
        guard path.utf8.count <= pathBytesMax else {
            throw LarderError(
                .connectionFailed,
                "the socket path has \(path.utf8.count) bytes, and \(pathBytesMax) are allowed",
                hint: "use a shorter path, or one relative to the working directory")
        }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        return address
    }

    private static func refusal(_ number: Int32, _ path: String) -> LarderError {
        switch number {
        case ENOENT, ENOTDIR:
            LarderError(
                .connectionFailed, "there is no socket at \(path)",
                hint: "is larderd running, and is this its socket?")
        case ECONNREFUSED:
            LarderError(
                .connectionFailed, "nothing listens at \(path)", hint: "is larderd running?")
        case EACCES, EPERM:
            LarderError(
                .permissionDenied, "the socket at \(path) may not be used by this user",
                hint: "the mode and the group of the socket and its directories say who may")
        case EAGAIN:
            LarderError(
                .connectionFailed, "the server at \(path) accepts no connection in time",
                hint: "it is busy, or stopped")
        case EPROTOTYPE:
            LarderError(.connectionFailed, "the socket at \(path) is not a stream socket")
        default:
            LarderError(.connectionFailed, "cannot connect to \(path): \(systemMessage(number))")
        }
    }
}
