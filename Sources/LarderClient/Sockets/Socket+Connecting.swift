import Glibc
import LarderModel
internal import LarderWire

extension Socket {
    /// Connects to the socket at this path. Waits until the deadline if the backlog is full.
    ///
    /// - Throws: `connectionFailed`, `permissionDenied`, `resourceExhausted`.
    static func connect(
        to path: String, until deadline: MonotonicInstant, requestTimeout: Duration
    ) throws(LarderError) -> Socket {
        Socket(
            descriptor: try connectedDescriptor(to: path, until: deadline),
            requestTimeout: requestTimeout)
    }

    static func connectedDescriptor(
        to path: String, until deadline: MonotonicInstant
    ) throws(LarderError) -> Int32 {
        let address = try address(path)
        let descriptor = socket(
            AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else {
            throw LarderError(
                .resourceExhausted, "no socket can be created: \(SystemError(code: errno).text)")
        }
        while true {
            // Connecting to a full backlog blocks for the time limit of sending, then gives EAGAIN.
            _ = setTimeLimit(SO_SNDTIMEO, of: descriptor, to: deadline.remaining)
            do throws(SystemError) {
                try address.connect(descriptor)
                return descriptor
            } catch {
                guard error.code == EINTR || error.code == EAGAIN, !deadline.isPast else {
                    close(descriptor)
                    throw refusal(error, path)
                }
            }
        }
    }

    /// Takes ownership of a connected descriptor. Closes it if it is not a stream socket.
    ///
    /// - Throws: `connectionFailed`.
    static func adopt(_ descriptor: Int32, requestTimeout: Duration) throws(LarderError) -> Socket {
        let flags = fcntl(descriptor, F_GETFL)
        guard flags >= 0 else {
            throw LarderError(
                .connectionFailed, "descriptor \(descriptor) is not open",
                hint: "pass the descriptor of a connected stream socket")
        }
        let socket = Socket(descriptor: descriptor, requestTimeout: requestTimeout)
        var kind: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        let status = getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &kind, &size)
        guard status == 0, kind == Int32(SOCK_STREAM.rawValue) else {
            throw LarderError(
                .connectionFailed, "descriptor \(descriptor) is not a stream socket",
                hint: "pass the descriptor of a connected stream socket")
        }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        _ = fcntl(descriptor, F_SETFL, flags & ~O_NONBLOCK)
        return socket
    }

    /// The user whose process listens at the other end, from the kernel.
    static func peerUser(of descriptor: Int32) -> UInt32? {
        // The fields of the kernel's `struct ucred`: process, user, group.
        var credentials: [UInt32] = [0, 0, 0]
        var size = socklen_t(credentials.count * MemoryLayout<UInt32>.size)
        let status = getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &size)
        return status == 0 && credentials[1] != .max ? credentials[1] : nil
    }

    /// A server never listens at an abstract name, which begins with a zero byte.
    private static func address(_ path: String) throws(LarderError) -> UnixSocketAddress {
        guard path.utf8.first != 0 else {
            throw LarderError(.connectionFailed, "the socket path contains a zero byte")
        }
        do throws(LarderError) {
            return try UnixSocketAddress(path: path)
        } catch {
            throw LarderError(.connectionFailed, error.message, hint: error.hint)
        }
    }

    private static func refusal(_ error: SystemError, _ path: String) -> LarderError {
        switch error.code {
        case ENOENT, ENOTDIR:
            LarderError(
                .connectionFailed, "there is no socket at \(path)",
                hint: "start larderd, or check the path of its socket")
        case ECONNREFUSED:
            LarderError(
                .connectionFailed, "no server listens at \(path)", hint: "start larderd")
        case EACCES, EPERM:
            LarderError(
                .permissionDenied, "this user has no permission to use the socket at \(path)",
                hint: "check the mode and the group of the socket and its directories")
        case EAGAIN:
            LarderError(
                .connectionFailed, "the server at \(path) did not accept the connection in time",
                hint: "the server is overloaded or suspended")
        case EPROTOTYPE:
            LarderError(.connectionFailed, "the socket at \(path) is not a stream socket")
        default:
            LarderError(.connectionFailed, "cannot connect to \(path): \(error.text)")
        }
    }
}
