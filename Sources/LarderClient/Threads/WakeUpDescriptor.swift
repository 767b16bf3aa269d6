import Glibc
import LarderModel

/// A descriptor with which one thread wakes another one from `poll`.
final class WakeUpDescriptor: Sendable {
    /// The descriptor to poll. It is readable after ``wake()``.
    let descriptor: Int32
    private let writeEnd: Int32

    init() throws(LarderError) {
        var pair: [Int32] = [-1, -1]
        let kind =
            Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
            | Int32(SOCK_NONBLOCK.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &pair) == 0 else {
            throw LarderError(
                .resourceExhausted, "no socket can be created: \(SystemError(code: errno).text)")
        }
        (descriptor, writeEnd) = (pair[0], pair[1])
    }

    deinit {
        close(descriptor)
        close(writeEnd)
    }

    /// Makes the descriptor readable. Never blocks: if the socket is full, it is readable already.
    func wake() {
        var byte: UInt8 = 0
        send(writeEnd, &byte, 1, Int32(MSG_NOSIGNAL))
    }

    /// Makes the descriptor unreadable again.
    func drain() {
        var byte: UInt8 = 0
        while recv(descriptor, &byte, 1, 0) > 0 {}
    }
}
