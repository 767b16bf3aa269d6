import Glibc

/// A place where a thread of the server is held until the test lets it go on. Made of pipes, so
/// that waiting blocks and never polls.
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

    /// Called by who is to be held.
    func pass() {
        var byte: UInt8 = 1
        _ = write(arrivals.writer, &byte, 1)
        _ = read(passage.reader, &byte, 1)
    }

    /// Returns once somebody is being held.
    func waitForArrival() {
        var byte: UInt8 = 0
        _ = read(arrivals.reader, &byte, 1)
    }

    /// Lets all go on, from now on; to be called once.
    func open() { close(passage.writer) }

    private static func makePipe() -> (reader: Int32, writer: Int32) {
        var ends: [Int32] = [-1, -1]
        precondition(pipe(&ends) == 0, "a pipe can be made")
        return (ends[0], ends[1])
    }
}
