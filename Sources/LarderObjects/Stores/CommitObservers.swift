internal import LarderModel
internal import Synchronization

/// The closures of a store's observers, which are called for each commit in the order in which they
/// were added.
final class CommitObservers: Sendable {
    typealias Body = @Sendable (HistoryTransaction) -> Void

    private struct State {
        var bodies: [(number: Int, body: Body)] = []
        var nextNumber = 0
    }

    private let state = Mutex(State())

    var isEmpty: Bool { state.withLock { $0.bodies.isEmpty } }

    /// - Parameter whenEmpty: Called after the last observation has ended.
    func add(
        _ body: @escaping Body, whenEmpty: @escaping @Sendable () -> Void = {}
    ) -> CommitObservation {
        let number = state.withLock { state in
            defer { state.nextNumber += 1 }
            state.bodies.append((state.nextNumber, body))
            return state.nextNumber
        }
        return CommitObservation { [self] in
            let isEmpty = state.withLock { state in
                state.bodies.removeAll { $0.number == number }
                return state.bodies.isEmpty
            }
            if isEmpty { whenEmpty() }
        }
    }

    /// Calls the closures without a lock, so that they may use the store. One whose observation
    /// ends meanwhile may be called once more.
    func call(_ transaction: HistoryTransaction) {
        for (_, body) in state.withLock({ $0.bodies }) { body(transaction) }
    }
}

/// The observation of a store's commits, which ends with the object.
final class CommitObservation: Sendable {
    private let end: @Sendable () -> Void

    init(_ end: @escaping @Sendable () -> Void) { self.end = end }

    deinit { end() }
}
