import Glibc
import LarderModel

/// The library's own threads, for work that blocks. They receive no signals.
package enum BackgroundThread {
    /// The closures for new threads. Each thread takes one, in any order.
    private static let bodies = Monitor<[@Sendable () -> Void]>([])

    /// Runs the closure on a new thread.
    ///
    /// - Throws: `resourceExhausted` if the system cannot create a thread.
    package static func start(_ body: @escaping @Sendable () -> Void) throws(LarderError) {
        // The lock is held until the thread exists, so that another thread cannot take the closure
        // of one that could not be created.
        let status = bodies.withLock { bodies in
            bodies.append(body)
            let status = create()
            if status != 0 { bodies.removeLast() }
            return status
        }
        guard status == 0 else {
            throw LarderError(
                .resourceExhausted, "the system cannot create another thread for this process",
                hint: "raise the limit on processes and threads (ulimit -u)")
        }
    }

    /// Runs the closure on a new thread and waits for its result without blocking.
    static func run<Success: Sendable>(
        _ body: @escaping @Sendable () -> Result<Success, LarderError>
    ) async throws(LarderError) -> Success {
        let result: Result<Success, LarderError> = await withCheckedContinuation { continuation in
            do throws(LarderError) {
                try start { continuation.resume(returning: body()) }
            } catch {
                continuation.resume(returning: .failure(error))
            }
        }
        return try result.get()
    }

    /// Creates a thread with all signals blocked, because the program's own threads handle them.
    ///
    /// - Returns: 0, or the system's error number.
    private static func create() -> Int32 {
        var all = sigset_t()
        var before = sigset_t()
        sigfillset(&all)
        pthread_sigmask(SIG_SETMASK, &all, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        var thread = pthread_t()
        let status = pthread_create(
            &thread, nil,
            { _ in
                let body = BackgroundThread.bodies.withLock { $0.popLast() }
                body?()
                return nil
            }, nil)
        if status == 0 { pthread_detach(thread) }
        return status
    }
}
