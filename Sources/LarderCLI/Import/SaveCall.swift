import Glibc
import LarderClient
import LarderModel
import Synchronization

/// A save that runs while the main thread continues, until the thread waits for it.
///
/// The main thread is not a thread of Swift's pool, so it may block. It waits on a pipe, which
/// needs neither spinning nor a lock that is held across the wait.
final class SaveCall: Sendable {
    private let outcome = Mutex<Result<SaveResult, LarderError>?>(nil)
    private let readEnd: Int32
    private let writeEnd: Int32

    init(of changes: ChangeSet, by client: StoreClient) throws(LarderError) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else {
            throw LarderError(
                .storageFailed, "cannot create a pipe: \(SystemError(code: errno).text)")
        }
        readEnd = ends[0]
        writeEnd = ends[1]
        Task {
            let result: Result<SaveResult, LarderError>
            do throws(LarderError) {
                result = .success(try await client.save(changes))
            } catch {
                result = .failure(error)
            }
            outcome.withLock { $0 = result }
            var byte: UInt8 = 0
            _ = write(writeEnd, &byte, 1)
        }
    }

    deinit {
        close(readEnd)
        close(writeEnd)
    }

    /// Blocks until the save has ended. Must be called at most once.
    func wait() -> Result<SaveResult, LarderError> {
        var byte: UInt8 = 0
        while true {
            let count = read(readEnd, &byte, 1)
            if let result = outcome.withLock({ $0 }) { return result }
            precondition(count >= 0 && errno == EINTR, "the pipe is open until deinit")
        }
    }
}
