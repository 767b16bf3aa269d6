import Glibc
import LarderModel
internal import LarderWire

extension Socket {
    /// Connects to the socket at this path.
    ///
    /// A server whose backlog is full is waited for until the deadline.
    static func connect(
        to path: String, until deadline: Moment, requestTimeout: Duration
    ) throws(LarderError) -> Socket {
        let address = try address(path)
        let descriptor = socket(
            AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else {
            throw LarderError(
                .resourceExhausted, "no socket can be created: \(SystemError(code: errno).text)")
        }
        let socket = Socket(descriptor: descriptor, requestTimeout: requestTimeout)
        while true {
            // Connecting to a full backlog waits as long as sending may, then gives EAGAIN.
            _ = limitTime(of: SO_SNDTIMEO, on: descriptor, to: deadline.remaining)
            do throws(SystemError) {
                try address.connect(descriptor)
                return socket
            } catch {
                guard error.code == EINTR || error.code == EAGAIN, !deadline.isPast else {
                    throw refusal(error, path)
                }
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

    /// Abstract names are for service managers; a server never listens at one.
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
            LarderError(.connectionFailed, "cannot connect to \(path): \(error.text)")
        }
    }
}
