package import LarderModel
internal import Synchronization

/// Calls the observers of a store in this process, on the threads that save.
///
/// A position in the history is all that it stores: the thread that delivers reads the transactions
/// after the position and calls the observers, until there are no more. While one thread delivers,
/// others leave their transactions to it instead of waiting, because an observer may wait for a
/// lock that such a thread has. So observers see every transaction in order, before the last of the
/// saves that run at the same time returns.
package final class CommitDelivery: Sendable {
    private struct State {
        /// The last transaction that observers have been called for.
        var delivered: Int64 = 0
        /// The last one that is committed.
        var committed: Int64 = 0
        var isDelivering = false
    }

    private let state: Mutex<State>
    private let observers = CommitObservers()

    /// - Parameter last: The number of the last transaction of the store.
    package init(after last: Int64) { state = Mutex(State(delivered: last, committed: last)) }

    package var isObserved: Bool { !observers.isEmpty }

    package func observe(
        _ body: @escaping @Sendable (HistoryTransaction) -> Void
    ) -> any AnyObject & Sendable {
        // Without observers, nothing was delivered.
        if observers.isEmpty {
            state.withLock { if !$0.isDelivering { $0.delivered = $0.committed } }
        }
        return observers.add(body)
    }

    /// Calls the observers for the transactions up to this one, unless another thread does.
    ///
    /// - Parameter read: Reads the transactions after a number, in order.
    package func committed(_ number: Int64, _ read: (_ after: Int64) -> [HistoryTransaction]) {
        state.withLock { $0.committed = max($0.committed, number) }
        while !observers.isEmpty, let after = begin() {
            let transactions = read(after)
            for transaction in transactions { observers.call(transaction) }
            end(after: transactions.last?.id)
        }
    }

    /// - Returns: the position to deliver from; nil if there is nothing to do.
    private func begin() -> Int64? {
        state.withLock { state in
            guard !state.isDelivering, state.delivered < state.committed else { return nil }
            state.isDelivering = true
            return state.delivered
        }
    }

    /// - Parameter last: nil if the transactions are not in the history any more.
    private func end(after last: Int64?) {
        state.withLock { state in
            state.isDelivering = false
            state.delivered = max(state.delivered, last ?? state.committed)
        }
    }
}
