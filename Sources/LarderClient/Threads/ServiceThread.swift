import Glibc
import LarderModel

/// Threads of the library's own, for what would block: they take no signals, and end by themselves.
enum ServiceThread {
    /// What the next threads are to run. Each new thread takes one entry; it does not matter which.
    private static let bodies = Monitor<[@Sendable () -> Void]>([])

    /// Runs the closure on a thread of its own.
    ///
    /// - Throws: `resourceExhausted` if the system has no thread to give.
    static func start(_ body: @escaping @Sendable () -> Void) throws(LarderError) {
        // Under the lock, no thread can take the entry before it is known that there is one.
        let status = bodies.withLock { bodies in
            bodies.append(body)
            let status = create()
            if status != 0 { bodies.removeLast() }
            return status
        }
        guard status == 0 else {
            throw LarderError(
                .resourceExhausted, "the system gives this process no further thread",
                hint: "raise the limit on processes and threads (ulimit -u)")
        }
    }

    /// Runs the closure on a thread of its own and waits for what it returns, without blocking.
    static func run<Answer: Sendable>(
        _ body: @escaping @Sendable () -> Result<Answer, LarderError>
    ) async throws(LarderError) -> Answer {
        let result: Result<Answer, LarderError> = await withCheckedContinuation { continuation in
            do throws(LarderError) {
                try start { continuation.resume(returning: body()) }
            } catch {
                continuation.resume(returning: .failure(error))
            }
        }
        return try result.get()
    }

    /// Signals are the program's to handle, so a thread is born with all of them blocked.
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
                let body = ServiceThread.bodies.withLock { $0.popLast() }
                body?()
                return nil
            }, nil)
        if status == 0 { pthread_detach(thread) }
        return status
    }
}
