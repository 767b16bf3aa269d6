import Glibc

/// Blocks a thread of the server until the test opens it. It consists of pipes, so that waiting
/// never polls.
final class Gate: Sendable {
    private let arrivals: (reader: Int32, writer: Int32)
    private let passage: (reader: Int32, writer: Int32)

    init() {
        arrivals = Gate.makePipe()
        passage = Gate.makePipe()
    }

    deinit {
        close(arrivals.reader)
        close(arrivals.writer)
        close(passage.reader)
    }

    /// Blocks the calling thread until the gate is open.
    func pass() {
        var byte: UInt8 = 1
        _ = write(arrivals.writer, &byte, 1)
        _ = read(passage.reader, &byte, 1)
    }

    /// Returns when a thread is blocked.
    func waitForArrival() {
        var byte: UInt8 = 0
        _ = read(arrivals.reader, &byte, 1)
    }

    /// Unblocks all threads, also later ones. It must be called once.
    func open() { close(passage.writer) }

    private static func makePipe() -> (reader: Int32, writer: Int32) {
        var ends: [Int32] = [-1, -1]
        precondition(pipe(&ends) == 0, "a pipe can be made")
        return (ends[0], ends[1])
    }
}
