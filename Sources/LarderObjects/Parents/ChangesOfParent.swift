internal import LarderModel
internal import Synchronization

/// The changes of a parent context that its child has not seen yet.
///
/// The parent adds them on its thread. A bounded number of objects is remembered; if there are
/// more, any object may have changed.
final class ChangesOfParent: Sendable {
    struct Changes: Sendable {
        var changed: Set<PersistentIdentifier> = []
        /// The changed objects that are new.
        var inserted: Set<PersistentIdentifier> = []
        var deleted: Set<PersistentIdentifier> = []
        var entityNames: Set<String> = []
        /// Whether there were more changes than these, so that all objects may have changed.
        var isOverflowed = false

        var isEmpty: Bool { changed.isEmpty && deleted.isEmpty && entityNames.isEmpty }
    }

    private struct State {
        var changes = Changes()
        var announce: (@Sendable () -> Void)?
    }

    private static let objectsMax = 16_384

    private let state = Mutex(State())

    /// Calls a closure after each change, on the thread of the parent.
    func announce(_ body: (@Sendable () -> Void)?) { state.withLock { $0.announce = body } }

    func add(_ changes: ContextChanges) {
        var new = Changes()
        new.entityNames = changes.entityNames
        for (object, kind) in changes.all {
            let identifier = object.identifier
            new.entityNames.insert(identifier.entityName)
            if kind == .deleted {
                new.deleted.insert(identifier)
            } else {
                new.changed.insert(identifier)
                if kind == .inserted { new.inserted.insert(identifier) }
            }
        }
        new.isOverflowed = changes.isReset
        let announce = state.withLock { [new] state in
            state.changes.changed.formUnion(new.changed)
            state.changes.inserted.formUnion(new.inserted)
            state.changes.inserted.subtract(new.deleted)
            state.changes.deleted.subtract(new.changed)
            state.changes.deleted.formUnion(new.deleted)
            state.changes.entityNames.formUnion(new.entityNames)
            let count = state.changes.changed.count + state.changes.deleted.count
            if new.isOverflowed || count > Self.objectsMax {
                state.changes.isOverflowed = true
                state.changes.changed = []
                state.changes.inserted = []
                state.changes.deleted = []
            }
            return state.announce
        }
        announce?()
    }

    func take() -> Changes {
        state.withLock { state in
            defer { state.changes = Changes() }
            return state.changes
        }
    }
}
