import Glibc
import LarderModel
import LarderWire

/// The system calls on Unix sockets that NIO has no functions for.
enum UnixSocket {
    static func make(_ type: __socket_type) throws(LarderError) -> Int32 {
        let flags = Int32(SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let descriptor = socket(AF_UNIX, Int32(type.rawValue) | flags, 0)
        guard descriptor >= 0 else { throw failure("cannot create a socket") }
        return descriptor
    }

    static func bind(_ descriptor: Int32, to path: String) throws(LarderError) {
        let address = try UnixSocketAddress(path: path)
        do throws(SystemError) {
            try address.bind(descriptor)
        } catch {
            throw failure("cannot listen at \(path)", error)
        }
    }

    /// Whether a program listens at the path. One whose backlog is full does.
    static func isListening(at path: String) throws(LarderError) -> Bool {
        let address = try UnixSocketAddress(path: path)
        let descriptor = try make(SOCK_STREAM)
        defer { close(descriptor) }
        do throws(SystemError) {
            try address.connect(descriptor)
            return true
        } catch {
            return error.code == EAGAIN
        }
    }

    static func send(_ bytes: [UInt8], over descriptor: Int32, to path: String) throws(LarderError)
    {
        let address = try UnixSocketAddress(path: path)
        do throws(SystemError) {
            try address.send(bytes, over: descriptor)
        } catch {
            throw failure("cannot notify the service manager", error)
        }
    }

    static func option(_ name: Int32, of descriptor: Int32) -> Int32? {
        var value: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        return getsockopt(descriptor, SOL_SOCKET, name, &value, &length) == 0 ? value : nil
    }

    /// The error to throw after a system call failed, by default the one that set `errno`.
    static func failure(
        _ message: String, _ error: SystemError = SystemError(code: errno)
    ) -> LarderError {
        let isDenied = [EACCES, EPERM, EROFS].contains(error.code)
        return LarderError(
            isDenied ? .permissionDenied : .connectionFailed, "\(message): \(error.text)")
    }
}
