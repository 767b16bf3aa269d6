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

    private var budget: ReadBudget?
    private var stepsLeft = 0
    /// When this read looked at the clock first; of an earlier read until it has.
    private var firstLook = ContinuousClock.now
    private var hasLooked = false
    /// nil where nothing is bounded.
    private(set) var interval: Int32?
    private(set) var stopReason: StopReason?
    /// Whether other statements run between two rows of the one that is bounded. They are not
    /// stopped: SQLite would roll back the whole transaction of one that writes.
    var isSuspended = false

    func start(_ budget: ReadBudget?) {
        stopReason = nil
        isSuspended = false
        hasLooked = false
        guard let budget, budget.isBounded else {
            self.budget = nil
            interval = nil
            return
        }
        self.budget = budget
        stepsLeft = budget.work ?? .max
        interval = Int32(max(1, min(stepsLeft, Self.intervalSteps)))
    }

    /// Counts one interval; false when the statement has to stop.
    func advance() -> Bool {
        if !isSuspended {
            stepsLeft -= Int(interval ?? 0)
            if stepsLeft <= 0 { stopReason = .stepsExceeded }
        }
        return allowsMore()
    }

    /// The same for what goes on for long by itself.
    var interruption: Interruption { Interruption { [self] in !allowsMore() } }

    /// Whether a function written in Swift may begin on so many bytes. Many are no work for a read
    /// that is to be short.
    func allowsMore(bytes: Int) -> Bool {
        if budget?.work != nil, bytes > Self.shortBytesMax { stopReason = .stepsExceeded }
        return allowsMore()
    }

    /// Some milliseconds of the slowest function.
    private static let shortBytesMax = 64 << 10

    /// Looks at the time, as before a function that may take as long as many steps; false when the
    /// statement has to stop.
    func allowsMore() -> Bool {
        guard let budget, !isSuspended else { return true }
        if budget.workTimeMax != nil || budget.deadline != nil { lookAtClock(budget) }
        if let cancellation = budget.cancellation, cancellation.isCancelled {
            stopReason = .cancelled
        }
        return stopReason == nil
    }

    private func lookAtClock(_ budget: ReadBudget) {
        let now = ContinuousClock.now
        if !hasLooked {
            firstLook = now
            hasLooked = true
        }
        if let workTimeMax = budget.workTimeMax, now - firstLook >= workTimeMax {
            stopReason = .stepsExceeded
        }
        if let deadline = budget.deadline, now >= deadline { stopReason = .deadlinePassed }
    }
}
