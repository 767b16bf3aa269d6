import Glibc
import LarderModel
import Synchronization

/// An asynchronous call that is under way while the main thread, which is not of Swift's pool,
/// does something else and then waits for it.
///
/// The end of the call is told through a pipe, the one thing that a thread can wait for without
/// spinning and without a lock that is held.
final class Pending<Output: Sendable>: Sendable {
    private let outcome = Mutex<Output?>(nil)
    private let readEnd: Int32
    private let writeEnd: Int32

    init(_ call: @escaping @Sendable () async -> Output) throws(LarderError) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else {
            throw LarderError(
                .storageFailed, "no pipe can be made: \(SystemError(code: errno).text)")
        }
        readEnd = ends[0]
        writeEnd = ends[1]
        Task {
            let output = await call()
            outcome.withLock { $0 = output }
            var end: UInt8 = 0
            _ = write(writeEnd, &end, 1)
        }
    }

    deinit {
        close(readEnd)
        close(writeEnd)
    }

    /// Blocks until the call has ended. Called once.
    func wait() -> Output {
        var end: UInt8 = 0
        while true {
            let count = read(readEnd, &end, 1)
            if let output = outcome.withLock({ $0 }) { return output }
            precondition(count >= 0 && errno == EINTR, "the pipe is ours and stays open")
        }
    }
}
