public import FoundationEssentials
import Synchronization

/// A clock that a test sets.
///
///     let clock = TestClock(Date(timeIntervalSinceReferenceDate: 0))
///     clock.advance(by: 3_600)
public final class TestClock: Sendable {
    private let time: Mutex<Date>

    /// - Parameter start: The time until the clock is set or advanced.
    public init(_ start: Date) { time = Mutex(start) }

    /// The time of the clock, which changes only by the test.
    public var now: Date {
        get { time.withLock { $0 } }
        set { time.withLock { $0 = newValue } }
    }

    /// Moves the clock on.
    ///
    /// - Parameter seconds: May be negative.
    public func advance(by seconds: TimeInterval) { time.withLock { $0 += seconds } }
}
