import Glibc

/// A moment by a clock that also goes while the machine sleeps, as ``ContinuousClock`` does.
///
/// Its own type because each call holds several: the clock's instants are of 128 bits, and a copy
/// of one is a call.
struct Moment: Comparable {
    /// Since the system was started.
    private let nanoseconds: Int64

    private init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    static var now: Moment {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return Moment(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }

    /// So far from now; a duration out of bounds is brought into them.
    static func after(_ duration: Duration) -> Moment { now.advanced(by: duration) }

    static func < (left: Moment, right: Moment) -> Bool { left.nanoseconds < right.nanoseconds }

    /// So much later; a duration out of bounds is brought into them.
    func advanced(by duration: Duration) -> Moment {
        let (seconds, nanoseconds) = duration.wholeSecondsAndNanoseconds
        return Moment(nanoseconds: self.nanoseconds + Int64(seconds * 1_000_000_000 + nanoseconds))
    }

    /// How long until then; zero once it is past.
    var remaining: Duration { .nanoseconds(remainingNanoseconds) }

    /// The same in milliseconds, rounded up, so that what waits this long has waited long enough.
    var remainingMilliseconds: Int32 {
        Int32(clamping: (remainingNanoseconds + 999_999) / 1_000_000)
    }

    var isPast: Bool { self <= .now }

    private var remainingNanoseconds: Int64 { max(nanoseconds - Moment.now.nanoseconds, 0) }
}
