import Glibc
import LarderClient
import LarderModel
import Synchronization

/// An asynchronous call that runs while the main thread continues, until the thread waits for it.
///
/// The main thread is not a thread of Swift's pool, so it may block. It waits on a pipe, which
/// needs neither spinning nor a lock that is held across the wait.
final class PendingCall<Output: Sendable>: Sendable {
    private let outcome = Mutex<Output?>(nil)
    private let readEnd: Int32
    private let writeEnd: Int32

    init(_ call: @escaping @Sendable () async -> Output) throws(LarderError) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else {
            throw LarderError(
                .storageFailed, "cannot create a pipe: \(SystemError(code: errno).text)")
        }
        readEnd = ends[0]
        writeEnd = ends[1]
        Task {
            let output = await call()
            outcome.withLock { $0 = output }
            var byte: UInt8 = 0
            _ = write(writeEnd, &byte, 1)
        }
    }

    deinit {
        close(readEnd)
        close(writeEnd)
    }

    /// Blocks until the call has ended. Must be called at most once.
    func wait() -> Output {
        var byte: UInt8 = 0
        while true {
            let count = read(readEnd, &byte, 1)
            if let output = outcome.withLock({ $0 }) { return output }
            precondition(count >= 0 && errno == EINTR, "the pipe is open until deinit")
        }
    }
}

extension PendingCall where Output == Result<SaveResult, LarderError> {
    convenience init(saving changes: ChangeSet, by client: StoreClient) throws(LarderError) {
        try self.init {
            do throws(LarderError) {
                return .success(try await client.save(changes))
            } catch {
                return .failure(error)
            }
        }
    }
}
