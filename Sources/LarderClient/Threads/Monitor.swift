import Glibc

/// A value that threads share, and the waiting for it to change: a mutex with conditions.
///
/// `Synchronization.Mutex` has no conditions, and one thread that reads a connection's socket for
/// all must be able to wake each of the others. Nothing else in this module takes pointers to the
/// system's locks.
///
/// Safe to share: `state` is touched only between lock and unlock of `mutex`, which is a recursive
/// lock for nobody; the closures get it `inout` and never across a wait. The mutex has an address
/// of its own, which is given back when nobody holds the monitor any more.
final class Monitor<State>: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    /// That accesses do not overlap is the lock's doing, and need not be looked at each time.
    @exclusivity(unchecked) private var state: State

    init(_ state: sending State) {
        self.state = state
        mutex.initialize(to: pthread_mutex_t())
        let status = pthread_mutex_init(mutex, nil)
        precondition(status == 0, "a mutex of default kind can always be made")
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    func withLock<Answer>(_ body: (inout State) -> Answer) -> Answer {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return body(&state)
    }

    /// Waits until the closure gives an answer. It is asked at once, after each signal, and a last
    /// time at the deadline, always under the lock.
    ///
    /// - Returns: nil if the deadline came first.
    func wait<Answer>(
        for condition: Condition, until deadline: Moment,
        _ body: (inout State) -> Answer?
    ) -> Answer? {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while true {
            if let answer = body(&state) { return answer }
            if deadline.isPast { return nil }
            condition.wait(releasing: mutex, for: deadline.remaining)
        }
    }
}

/// Something that holders of a ``Monitor`` wait for.
///
/// Safe to share: the system's condition may be used by any thread; it has an address of its own,
/// given back when neither waiter nor signaller holds this object any more.
final class Condition: @unchecked Sendable {
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

    init() {
        condition.initialize(to: pthread_cond_t())
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        // Deadlines must not move when the time of day is set.
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        let status = pthread_cond_init(condition, &attributes)
        pthread_condattr_destroy(&attributes)
        precondition(status == 0, "a condition by the monotonic clock can always be made")
    }

    deinit {
        pthread_cond_destroy(condition)
        condition.deallocate()
    }

    /// Wakes all that wait. What they wait for must have been changed under the monitor's lock.
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
