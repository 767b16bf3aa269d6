/// The changes in a context since they were taken last: by the program, by commits of others that
/// it has merged, and by reads that have found other values.
package struct ContextChanges {
    package enum Kind: Sendable {
        case inserted, updated, deleted
        /// It has other values, which are no changes of the context.
        case refreshed
    }

    /// The entities of which others have inserted, changed or deleted objects, or of which the
    /// context has forgotten some.
    package private(set) var entityNames: Set<String> = []
    /// Whether the context has forgotten all objects.
    package private(set) var isReset = false
    private var kinds: [ObjectIdentifier: (object: StoredObject, kind: Kind)] = [:]

    static let countMax = 16_384

    package init() {}

    var count: Int { kinds.count }

    package var isEmpty: Bool { kinds.isEmpty && entityNames.isEmpty && !isReset }

    /// The objects of a kind, in the order in which they were changed last.
    package func objects(_ kind: Kind) -> [StoredObject] {
        kinds.values.filter { $0.kind == kind }.map(\.object).inOrder
    }

    /// All objects with their kinds.
    package var all: some Sequence<(object: StoredObject, kind: Kind)> { kinds.values }

    mutating func record(_ object: StoredObject, _ kind: Kind) {
        let known = kinds[ObjectIdentifier(object)]?.kind
        switch (known, kind) {
        case (nil, _), (.updated, .deleted), (.refreshed, .updated), (.refreshed, .deleted):
            kinds[ObjectIdentifier(object)] = (object, kind)
        case (.inserted, .deleted):
            // Who has fetched since then knows the object.
            kinds[ObjectIdentifier(object)] = nil
            if let name = object.entity?.name { entityNames.insert(name) }
        case (.deleted, .inserted): kinds[ObjectIdentifier(object)] = (object, .refreshed)
        default: break
        }
    }

    mutating func record(_ names: some Sequence<String>) { entityNames.formUnion(names) }

    mutating func reset() {
        kinds = [:]
        isReset = true
    }

    /// The changes with later ones.
    package func merging(_ later: ContextChanges) -> ContextChanges {
        if later.isReset { return later }
        var merged = self
        merged.entityNames.formUnion(later.entityNames)
        for (object, kind) in later.kinds.values { merged.record(object, kind) }
        return merged
    }
}

extension ObjectContext {
    /// Begins to record what changes, for ``takeChanges()``.
    ///
    /// - Parameter began: Called with the first change after ``takeChanges()``, under the lock.
    package func recordChanges(_ began: @escaping () -> Void) {
        locked {
            changesBegan = began
            if changes == nil { changes = ContextChanges() }
        }
    }

    package func stopRecordingChanges() {
        locked {
            changesBegan = {}
            changes = nil
        }
    }

    /// Records that others have changed objects of some entities, which the context need not have.
    package func noteChanges(ofEntities names: Set<String>) { locked { note(entities: names) } }

    /// Announces changes before they take much memory, where nothing else does.
    package func announceManyChanges() {
        if locked({ (changes?.count ?? 0) > ContextChanges.countMax }) { announceChanges() }
    }

    /// The changes since the last call.
    package func takeChanges() -> ContextChanges {
        locked {
            guard let taken = changes, !taken.isEmpty else { return ContextChanges() }
            changes = ContextChanges()
            for child in liveChildren { child.changesOfParent.add(taken) }
            return taken
        }
    }

    func note(_ object: StoredObject, _ kind: ContextChanges.Kind) {
        noting { $0.record(object, kind) }
    }

    /// Records changes of objects that the context need not have.
    func note(entities names: some Sequence<String>) { noting { $0.record(names) } }

    func noteReset() { noting { $0.reset() } }

    private func noting(_ body: (inout ContextChanges) -> Void) {
        guard var current = changes else { return }
        // The context must not have them meanwhile, or they would be copied.
        changes = nil
        let isFirst = current.isEmpty
        body(&current)
        changes = current
        if isFirst, !current.isEmpty { changesBegan() }
    }
}
