import LarderModel
import LarderQuery
import LarderSQL

/// The budget of the read that a session runs: its deadline, its cancellation and its time.
///
/// The units of work of a ``ReadBudget`` are those of a database in the process, and are not
/// counted: a read of this store waits in a thread of the pool and not in an event loop.
final class PostgresLimit: ConversionLimit {
    private var budget = ReadBudget()
    /// When the read ends with `budgetExceeded`.
    private var workEnd: ContinuousClock.Instant?
    private var bytesConverted = 0

    /// A read without a deadline ends then, so that none waits without a limit.
    private static let timeMax = Duration.seconds(24 * 3_600)
    /// After this many bytes the clock is read.
    private static let bytesPerLook = 1 << 16

    func start(_ budget: ReadBudget) {
        self.budget = budget
        workEnd = budget.workTimeMax.map { .now + $0 }
        bytesConverted = 0
    }

    /// When the server is asked to stop.
    var deadline: ContinuousClock.Instant {
        [budget.deadline, workEnd, .now + Self.timeMax].compactMap(\.self).min() ?? .now
    }

    var cancellation: ReadCancellation? { budget.cancellation }
    var bytesMax: Int? { budget.bytesMax }

    /// Lets others run before a statement.
    func pause() { budget.pause?() }

    // MARK: ConversionLimit

    var isStopped: Bool { failure != nil }

    func allowsConversion(ofBytes count: Int) -> Bool {
        bytesConverted += count
        guard bytesConverted >= Self.bytesPerLook else { return true }
        bytesConverted = 0
        return !isStopped
    }

    func allowsMoreStatements() -> Bool { !isStopped }

    /// Why the read has to stop; nil if it has not.
    var failure: ReadFailure? {
        if budget.cancellation?.isCancelled == true {
            return .failed(LarderError(.cancelled, "the request was stopped"))
        }
        let now = ContinuousClock.now
        if let deadline = budget.deadline, deadline <= now {
            return .failed(
                LarderError(
                    .timeout, "the query took longer than it may",
                    hint: "narrow it, or allow it more time"))
        }
        if let workEnd, workEnd <= now { return .budgetExceeded }
        return nil
    }
}
