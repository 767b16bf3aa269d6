import Glibc

/// An instant of a clock that never goes back and continues while the machine sleeps, as
/// ``ContinuousClock`` does.
///
/// Each call stores several instants. An instant of `ContinuousClock` has 128 bits, and the
/// compiler copies it with a call.
struct MonotonicInstant: Comparable {
    /// Since the system was started.
    private let nanoseconds: Int64

    private init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    static var now: MonotonicInstant {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return MonotonicInstant(
            nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }

    /// The current instant plus the duration, which is clamped to ``Duration/waitMax``.
    static func after(_ duration: Duration) -> MonotonicInstant { now.advanced(by: duration) }

    static func < (left: MonotonicInstant, right: MonotonicInstant) -> Bool {
        left.nanoseconds < right.nanoseconds
    }

    /// This instant plus the duration, which is clamped to ``Duration/waitMax``.
    func advanced(by duration: Duration) -> MonotonicInstant {
        let (seconds, nanoseconds) = duration.wholeSecondsAndNanoseconds
        return MonotonicInstant(
            nanoseconds: self.nanoseconds + Int64(seconds * 1_000_000_000 + nanoseconds))
    }

    /// The time from now until this instant; zero after it.
    var remaining: Duration { .nanoseconds(remainingNanoseconds) }

    /// The remaining time in milliseconds, rounded up, so that a wait of that length ends after it.
    var remainingMilliseconds: Int32 {
        Int32(clamping: (remainingNanoseconds + 999_999) / 1_000_000)
    }

    /// Blocks the thread until this instant.
    func sleep() {
        var time = timespec(
            tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
        while clock_nanosleep(CLOCK_BOOTTIME, TIMER_ABSTIME, &time, nil) == EINTR {}
    }

    var isPast: Bool { self <= .now }

    private var remainingNanoseconds: Int64 {
        max(nanoseconds - MonotonicInstant.now.nanoseconds, 0)
    }
}
