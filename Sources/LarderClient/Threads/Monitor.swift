import Glibc

/// A value that threads share, with a lock and conditions to wait for its changes.
///
/// `Synchronization.Mutex` has no conditions, and the thread that reads a connection's socket must
/// wake the others. Only this file uses pointers to the system's locks.
///
/// Safe to share: `state` is accessed only while `mutex` is locked, and the closures get it `inout`
/// and never across a wait. `mutex` has an address of its own, which is freed with the monitor.
final class Monitor<State>: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    /// The lock prevents overlapping accesses, so no access is checked.
    @exclusivity(unchecked) private var state: State

    init(_ state: sending State) {
        self.state = state
        mutex.initialize(to: pthread_mutex_t())
        let status = pthread_mutex_init(mutex, nil)
        precondition(status == 0, "a default mutex can always be created")
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    func withLock<Result>(_ body: (inout State) -> Result) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return body(&state)
    }

    /// Waits until the closure returns a result. It is called at once, after each signal, and a
    /// last time at the deadline, always under the lock.
    ///
    /// - Returns: nil after the deadline.
    func wait<Result>(
        for condition: Condition, until deadline: MonotonicInstant,
        _ body: (inout State) -> Result?
    ) -> Result? {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while true {
            if let result = body(&state) { return result }
            if deadline.isPast { return nil }
            condition.wait(releasing: mutex, for: deadline.remaining)
        }
    }
}

/// A condition variable for the users of a ``Monitor``.
///
/// Safe to share: any thread may use the system's condition. It has an address of its own, which is
/// freed with this object, and every thread that waits or signals holds a reference to the object.
final class Condition: @unchecked Sendable {
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

    init() {
        condition.initialize(to: pthread_cond_t())
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        // A change of the system's time must not change deadlines.
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        let status = pthread_cond_init(condition, &attributes)
        pthread_condattr_destroy(&attributes)
        precondition(status == 0, "a condition with the monotonic clock can always be created")
    }

    deinit {
        pthread_cond_destroy(condition)
        condition.deallocate()
    }

    /// Wakes all waiting threads. The caller must have changed the state under the monitor's lock.
    func signal() { pthread_cond_broadcast(condition) }

    fileprivate func wait(
        releasing mutex: UnsafeMutablePointer<pthread_mutex_t>, for duration: Duration
    ) {
        var deadline = timespec()
        clock_gettime(CLOCK_MONOTONIC, &deadline)
        let (seconds, nanoseconds) = duration.wholeSecondsAndNanoseconds
        deadline.tv_sec += seconds
        deadline.tv_nsec += nanoseconds
        if deadline.tv_nsec >= 1_000_000_000 {
            deadline.tv_sec += 1
            deadline.tv_nsec -= 1_000_000_000
        }
        pthread_cond_timedwait(condition, mutex, &deadline)
    }
}
