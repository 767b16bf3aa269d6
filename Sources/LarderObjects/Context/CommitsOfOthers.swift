internal import LarderModel
internal import Synchronization

/// The changes that the stores of a context have announced and that the context has not seen yet.
///
/// Commits arrive on other threads. Of many changes only a bounded number is remembered.
final class CommitsOfOthers: Sendable {
    struct Changes {
        var updated: [PersistentIdentifier] = []
        var deleted: [PersistentIdentifier] = []
    }

    private static let countMax = 65_536

    private let changes = Mutex(Changes())
    private let observations = Mutex<[any AnyObject & Sendable]>([])

    func observe(_ stores: [any ObjectStore]) {
        for store in stores {
            let observation = store.observeCommits { [weak self] transaction in
                self?.add(transaction)
            }
            observations.withLock { $0.append(observation) }
        }
    }

    func take() -> Changes {
        changes.withLock { changes in
            defer { changes = Changes() }
            return changes
        }
    }

    private func add(_ transaction: HistoryTransaction) {
        changes.withLock { changes in
            for change in transaction.changes {
                guard changes.updated.count + changes.deleted.count < Self.countMax else { return }
                switch change.kind {
                case .inserted: break
                case .updated: changes.updated.append(change.identifier)
                case .deleted: changes.deleted.append(change.identifier)
                }
            }
        }
    }
}
