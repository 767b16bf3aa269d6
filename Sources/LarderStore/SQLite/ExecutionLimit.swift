import LarderModel

/// Why SQLite stopped before the end.
enum StopReason: Hashable, Sendable {
    case stepsExceeded
    case deadlinePassed
    case cancelled
}

/// Counts what statements do against a budget. Used by its connection's thread only: SQLite calls
/// the progress handler, and the functions written in Swift, from within `step`.
final class ExecutionLimit {
    /// Steps of SQLite's virtual machine between two looks at the clock: some ten microseconds.
    private static let intervalSteps = 1_000

    private var stepsLeft: Int?
    private var stepsDeadline: ContinuousClock.Instant?
    private var deadline: ContinuousClock.Instant?
    private var cancellation: ReadCancellation?
    private(set) var interval: Int32?
    private(set) var stopReason: StopReason?
    /// Whether other statements run between two rows of the one that is bounded. They are not
    /// stopped: SQLite would roll back the whole transaction of one that writes.
    var isSuspended = false

    func start(_ budget: ReadBudget?) {
        stopReason = nil
        isSuspended = false
        stepsLeft = budget?.steps
        stepsDeadline = budget?.stepsDeadline
        deadline = budget?.deadline
        cancellation = budget?.cancellation
        interval =
            stepsLeft == nil && stepsDeadline == nil && deadline == nil && cancellation == nil
            ? nil : Int32(max(1, min(stepsLeft ?? Self.intervalSteps, Self.intervalSteps)))
    }

    /// Counts one interval; false when the statement has to stop.
    func advance() -> Bool {
        if let left = stepsLeft, !isSuspended {
            stepsLeft = left - Int(interval ?? 0)
            if left <= Int(interval ?? 0) { stopReason = .stepsExceeded }
        }
        return allowsMore()
    }

    /// The same for what goes on for long by itself.
    var interruption: Interruption { Interruption { [self] in !allowsMore() } }

    /// Whether a function written in Swift may begin on so many bytes. Many are no work for a read
    /// that is to be short.
    func allowsMore(bytes: Int) -> Bool {
        if stepsLeft != nil, bytes > Self.shortBytesMax { stopReason = .stepsExceeded }
        return allowsMore()
    }

    /// Some milliseconds of the slowest function.
    private static let shortBytesMax = 64 << 10

    /// Looks at the time, as before a function that may take as long as many steps; false when the
    /// statement has to stop.
    func allowsMore() -> Bool {
        guard interval != nil, !isSuspended else { return true }
        if stepsDeadline != nil || deadline != nil {
            let now = ContinuousClock.now
            if let stepsDeadline, now >= stepsDeadline { stopReason = .stepsExceeded }
            if let deadline, now >= deadline { stopReason = .deadlinePassed }
        }
        if let cancellation, cancellation.isCancelled { stopReason = .cancelled }
        return stopReason == nil
    }
}
