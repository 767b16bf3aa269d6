internal import FoundationEssentials
internal import LarderModel
internal import Synchronization

/// The changes that the stores of a context have announced and that the context has not seen yet.
///
/// Commits arrive on other threads. A bounded number of changes is remembered; if there are more,
/// any object may have changed.
final class CommitsOfOthers: Sendable {
    struct Changes {
        var runs: [(store: UUID, run: HistoryRun)] = []
        /// Whether there were more changes than these, so that all objects may have changed.
        var isOverflowed = false

        var isEmpty: Bool { runs.isEmpty && !isOverflowed }
    }

    fileprivate struct State {
        var commits: [(store: UUID, number: Int64, runs: [HistoryRun])] = []
        var runCount = 0
        var isOverflowed = false
        /// Commits of the context itself that were not announced yet.
        var own: [UUID: Set<Int64>] = [:]
        var announce: (@Sendable () -> Void)?
    }

    fileprivate static let runsMax = 16_384
    fileprivate static let commitsMax = 4_096
    private static let ownMax = 1_024

    private let state = Mutex(State())
    private let observations = Mutex<[any AnyObject & Sendable]>([])

    func observe(_ stores: [any ObjectStore]) {
        for store in stores {
            let observation = store.observeCommits { [weak self] transaction in
                self?.add(transaction)
            }
            observations.withLock { $0.append(observation) }
        }
    }

    /// Calls a closure after each commit, on the thread that has announced it.
    func announce(_ body: (@Sendable () -> Void)?) { state.withLock { $0.announce = body } }

    var isEmpty: Bool { state.withLock { $0.commits.isEmpty && !$0.isOverflowed } }

    func take() -> Changes {
        state.withLock { state in
            let changes = Changes(
                runs: state.commits.flatMap { commit in commit.runs.map { (commit.store, $0) } },
                isOverflowed: state.isOverflowed)
            state.commits = []
            state.runCount = 0
            state.isOverflowed = false
            return changes
        }
    }

    /// Leaves the updates of a commit of the context itself out.
    func ignoreUpdates(_ number: Int64, of store: UUID) {
        state.withLock { state in
            let index = state.commits.lastIndex { $0.number == number && $0.store == store }
            if let index {
                state.commits[index].runs.removeAll { $0.kind != .deleted }
                return
            }
            if state.own[store, default: []].count >= Self.ownMax { state.own[store] = [] }
            state.own[store, default: []].insert(number)
        }
    }

    private func add(_ transaction: HistoryTransaction) {
        let announce = state.withLock { state in
            state.add(transaction)
            return state.announce
        }
        announce?()
    }
}

extension CommitsOfOthers.State {
    fileprivate mutating func add(_ transaction: HistoryTransaction) {
        let store = transaction.token.store
        let isOwn = own[store]?.remove(transaction.id) != nil
        guard !isOverflowed else { return }
        let runs = isOwn ? transaction.runs.filter { $0.kind == .deleted } : transaction.runs
        runCount += runs.count
        if transaction.isAnyChange || runCount > CommitsOfOthers.runsMax
            || commits.count >= CommitsOfOthers.commitsMax
        {
            isOverflowed = true
            commits = []
            runCount = 0
        } else {
            commits.append((store, transaction.id, runs))
        }
    }
}
