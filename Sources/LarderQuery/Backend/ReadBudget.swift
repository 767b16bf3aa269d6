import LarderModel
import Synchronization

/// The work that one read, or one write before its commit, may do before the store stops it.
///
/// A class, because `ContinuousClock.Instant` is opaque to the compiler: copying one in a struct is
/// a call, and a read by identifier passes its budget about ten times.
package final class ReadBudget: Sendable {
    /// The work in units of the store, each some 25 nanoseconds of a processor. A read that needs
    /// more ends with ``ReadFailure/budgetExceeded``.
    package let work: Int?
    /// The time for that work; a read that needs more ends in the same way. The store counts it
    /// from its first look at the clock, which a short read never reaches.
    package let workTimeMax: Duration?
    /// The bytes that a read of objects by identifier may return; more end it in the same way.
    package let bytesMax: Int?
    /// The length of a statement that may be prepared, which nothing can interrupt; a read that
    /// needs a longer one ends in the same way.
    package let statementBytesMax: Int?
    /// After this instant the read ends with `ErrorCode.timeout`.
    package let deadline: ContinuousClock.Instant?
    /// After its cancellation the read ends with `ErrorCode.cancelled`.
    package let cancellation: ReadCancellation?
    /// Called from time to time during the read, on its thread. It may block to let others run.
    package let pause: (@Sendable () -> Void)?

    package init(
        work: Int? = nil, workTimeMax: Duration? = nil, bytesMax: Int? = nil,
        statementBytesMax: Int? = nil, deadline: ContinuousClock.Instant? = nil,
        cancellation: ReadCancellation? = nil, pause: (@Sendable () -> Void)? = nil
    ) {
        self.work = work
        self.workTimeMax = workTimeMax
        self.bytesMax = bytesMax
        self.statementBytesMax = statementBytesMax
        self.deadline = deadline
        self.cancellation = cancellation
        self.pause = pause
    }

    /// Whether it sets any limit.
    package var isBounded: Bool {
        work != nil || workTimeMax != nil || cancellation != nil || deadline != nil || pause != nil
    }
}

/// Stops a read or a write whose result is no longer needed. It may be used from any thread while
/// that runs.
package final class ReadCancellation: Sendable {
    private let flag = Atomic(false)
    private let handler = Mutex<(@Sendable () -> Void)?>(nil)

    package init() {}

    package func cancel() {
        flag.store(true, ordering: .sequentiallyConsistent)
        callHandler()
    }

    package var isCancelled: Bool { flag.load(ordering: .relaxed) }

    /// Calls back once, on the thread that cancels, or at once if that has happened. For work that
    /// has not begun, and so does not look at the flag. Another call replaces the closure.
    package func whenCancelled(_ call: @escaping @Sendable () -> Void) {
        handler.withLock { $0 = call }
        if flag.load(ordering: .sequentiallyConsistent) { callHandler() }
    }

    private func callHandler() {
        let call = handler.withLock { handler in
            defer { handler = nil }
            return handler
        }
        call?()
    }
}

/// Why a read returned no result.
package enum ReadFailure: Error {
    /// The read needs more work than its budget allows. It is not an error: repeat the read with a
    /// larger budget.
    case budgetExceeded
    case failed(LarderError)
}

extension ReadFailure {
    /// The error for the caller of a read that has no larger budget left to try.
    package var larderError: LarderError {
        switch self {
        case .budgetExceeded: LarderError(.timeout, "the read needs more work than is allowed")
        case .failed(let error): error
        }
    }
}
