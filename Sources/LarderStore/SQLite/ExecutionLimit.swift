import CSQLite
import LarderModel
import Synchronization

/// Why SQLite stopped before the end.
enum StopReason: Hashable, Sendable {
    case stepsExceeded
    case deadlinePassed
    case interrupted
}

/// Counts what statements do against a budget. Used by its connection's thread only: SQLite calls
/// the progress handler from within `step`.
final class ExecutionLimit {
    /// Steps of SQLite's virtual machine between two looks at the clock: some ten microseconds.
    private static let intervalSteps = 1_000

    private var stepsLeft: Int?
    private var deadline: ContinuousClock.Instant?
    private(set) var interval: Int32?
    private(set) var stopReason: StopReason?

    func start(_ budget: ReadBudget?) {
        stopReason = nil
        stepsLeft = budget?.steps
        deadline = budget?.deadline
        interval =
            stepsLeft == nil && deadline == nil
            ? nil : Int32(max(1, min(stepsLeft ?? Self.intervalSteps, Self.intervalSteps)))
    }

    /// Counts one interval; false when the statement has to stop.
    func advance() -> Bool {
        if let left = stepsLeft {
            stepsLeft = left - Int(interval ?? 0)
            if left <= Int(interval ?? 0) { stopReason = .stepsExceeded }
        }
        if let deadline, ContinuousClock.now >= deadline { stopReason = .deadlinePassed }
        return stopReason == nil
    }
}

/// Stops what a connection is doing, from any thread.
///
/// The pointer is used under the mutex only, and is gone from it before the handle is closed.
final class Interrupter: Sendable {
    private struct State {
        var address: UInt?
        var wasUsed = false
    }

    private let state: Mutex<State>

    init(handle: OpaquePointer) {
        state = Mutex(State(address: UInt(bitPattern: handle)))
    }

    func interrupt() {
        state.withLock { state in
            guard let address = state.address else { return }
            state.wasUsed = true
            sqlite3_interrupt(OpaquePointer(bitPattern: address))
        }
    }

    var wasUsed: Bool { state.withLock { $0.wasUsed } }

    /// Forgets an interrupt that has had its effect.
    func rearm() { state.withLock { $0.wasUsed = false } }

    func invalidate() { state.withLock { $0.address = nil } }
}
