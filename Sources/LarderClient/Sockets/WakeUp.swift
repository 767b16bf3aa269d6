import Glibc
import LarderModel

/// A descriptor by which one thread wakes another from `poll`.
final class WakeUp: Sendable {
    /// Readable once rung.
    let descriptor: Int32
    private let bell: Int32

    init() throws(LarderError) {
        var pair: [Int32] = [-1, -1]
        let kind =
            Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
            | Int32(SOCK_NONBLOCK.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &pair) == 0 else {
            throw LarderError(
                .resourceExhausted, "no socket can be created: \(SystemError(code: errno).text)")
        }
        (descriptor, bell) = (pair[0], pair[1])
    }

    deinit {
        close(descriptor)
        close(bell)
    }

    /// The next `poll`, or the one that waits, finds the descriptor readable. Never blocks: a bell
    /// that has been rung too often to take more is heard as well.
    func ring() {
        var byte: UInt8 = 0
        send(bell, &byte, 1, Int32(MSG_NOSIGNAL))
    }

    /// Makes it unreadable again.
    func silence() {
        var byte: UInt8 = 0
        while recv(descriptor, &byte, 1, 0) > 0 {}
    }
}
