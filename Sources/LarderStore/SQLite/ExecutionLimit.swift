import LarderModel
import LarderQuery
import LarderSQL

/// The reason for which a statement was stopped.
enum StopReason: Hashable, Sendable {
    case stepsExceeded
    case deadlinePassed
    case cancelled
}

/// Enforces the budget of the statements of a connection. Used on the connection's thread only:
/// SQLite calls the progress handler, and the functions written in Swift, from within `step`.
final class ExecutionLimit: ConversionLimit {
    /// Steps of SQLite's virtual machine between two reads of the clock: some ten microseconds.
    private static let intervalSteps = 1_000

    private var budget: ReadBudget?
    private var stepsLeft = 0
    /// The time at which this read first read the clock, if it has.
    private var startTime = ContinuousClock.now
    private var hasStartTime = false
    /// The steps between two calls of the progress handler; nil if there is no limit.
    private(set) var interval: Int32?
    /// The interval for a connection that reports its progress.
    var progressInterval: Int32? { progress.map { _ in Int32(Self.intervalSteps) } }
    private(set) var stopReason: StopReason?
    var isStopped: Bool { stopReason != nil }
    /// The bytes of values that were converted, since the start and since the last look at the
    /// clock.
    private var convertedBytes = 0
    private var uncheckedBytes = 0
    /// Whether statements are not stopped, but only the computations between them: SQLite would
    /// roll back the whole transaction of a statement that writes.
    var isSuspended = false
    /// Advances at each look at the limit; nil for a reader.
    var progress: WriterProgress?

    func start(_ budget: ReadBudget?) {
        stopReason = nil
        isSuspended = false
        hasStartTime = false
        convertedBytes = 0
        uncheckedBytes = 0
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
        if isSuspended || budget == nil {
            progress?.advance()
        } else {
            stepsLeft -= Int(interval ?? 0)
            if stepsLeft <= 0 { stopReason = .stepsExceeded }
        }
        return allowsMore()
    }

    /// The check for long computations in Swift.
    var interruption: Interruption { Interruption { [self] in !allowsMore() } }

    /// Whether a function written in Swift may process this number of bytes. A read that is limited
    /// to a number of steps is not for large values.
    ///
    /// SQLite counts the steps of the calls, so the clock is read only after some number of bytes.
    /// A function that takes more time than its arguments are long calls ``allowsMore()`` too.
    @inline(__always)
    func allowsCall(ofBytes count: Int) -> Bool {
        uncheckedBytes += count
        if uncheckedBytes < Self.callBytesMax { return isSuspended || stopReason == nil }
        return allowsLongCall(ofBytes: count)
    }

    private func allowsLongCall(ofBytes count: Int) -> Bool {
        uncheckedBytes = 0
        if budget?.work != nil, count > Self.shortBytesMax { stopReason = .stepsExceeded }
        return allowsMore()
    }

    /// Counts the bytes of a result, which may be many more than those of the arguments.
    @inline(__always)
    func countResult(ofBytes count: Int) { uncheckedBytes += count }

    /// Up to 0.2 milliseconds of the slowest function.
    private static let callBytesMax = 4 << 10

    /// Counts bytes of values that are converted for a statement; false if it has to stop. A read
    /// that is limited to a number of steps is not for many values either.
    func allowsConversion(ofBytes count: Int) -> Bool {
        convertedBytes += count
        uncheckedBytes += count
        if budget?.work != nil, convertedBytes > Self.shortBytesMax { stopReason = .stepsExceeded }
        guard uncheckedBytes >= Self.shortBytesMax else { return stopReason == nil }
        uncheckedBytes = 0
        return allowsMoreStatements()
    }

    /// Whether a statement of this length may be prepared, during which SQLite cannot be stopped.
    func allowsStatement(ofBytes count: Int) -> Bool {
        guard let maximum = budget?.statementBytesMax, count > maximum else { return true }
        stopReason = .stepsExceeded
        return false
    }

    /// Some milliseconds of the slowest function.
    private static let shortBytesMax = 64 << 10

    /// Reads the clock, for instance before a function that may take as long as many steps; false
    /// if the statement has to stop.
    func allowsMore() -> Bool { isSuspended || allowsMoreStatements() }

    /// The check between two statements, which may end also if none may be stopped.
    func allowsMoreStatements() -> Bool {
        progress?.advance()
        guard let budget else { return true }
        budget.pause?()
        if budget.workTimeMax != nil || budget.deadline != nil { readClock(budget) }
        if let cancellation = budget.cancellation, cancellation.isCancelled {
            stopReason = .cancelled
        }
        return stopReason == nil
    }

    private func readClock(_ budget: ReadBudget) {
        let now = ContinuousClock.now
        if !hasStartTime {
            startTime = now
            hasStartTime = true
        }
        if let workTimeMax = budget.workTimeMax, now - startTime >= workTimeMax {
            stopReason = .stepsExceeded
        }
        if let deadline = budget.deadline, now >= deadline { stopReason = .deadlinePassed }
    }
}
