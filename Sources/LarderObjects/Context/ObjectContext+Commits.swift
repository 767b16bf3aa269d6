internal import FoundationEssentials
package import LarderModel

// The commits of others: objects that they deleted are gone, and a context that follows changes
// reads the values of objects that they updated.

extension ObjectContext {
    /// Whether the context refreshes objects without changes after commits of others.
    package var followsCommits: Bool {
        get { locked { isFollowing } }
        set { locked { isFollowing = newValue } }
    }

    /// Whether commits of others wait to be applied.
    package var hasCommitsOfOthers: Bool { !others.isEmpty }

    /// Calls a closure after each commit, on any thread.
    package func announceCommits(_ body: (@Sendable () -> Void)?) {
        others.announce(body)
        changesOfParent.announce(body)
    }

    /// Applies what others have committed since the last call: an object that they deleted is gone.
    /// If the context follows commits, objects and lists that they changed are read again.
    ///
    /// - Returns: the identifiers of the registered objects that they updated.
    @discardableResult
    package func applyCommitsOfOthers() -> [PersistentIdentifier] {
        locked {
            if let parent { return applyChanges(of: parent) }
            guard !isInSnapshot, !others.isEmpty else { return [] }
            let changes = others.take()
            var updated: [StoredObject] = []
            var deleted: [StoredObject] = []
            if changes.isOverflowed {
                updated = registered.filter { $0.status == .saved }
                deleted = missing(among: updated)
            }
            if isFollowing { noteInserts(in: changes.runs) }
            for (store, run) in changes.runs where run.kind != .inserted {
                let objects = registered(in: run, store)
                if run.kind == .deleted { deleted += objects } else { updated += objects }
            }
            for object in deleted where object.status == .saved { becomeGone(object) }
            updated = updated.filter { $0.status == .saved }
            if isFollowing {
                let sides = changes.isOverflowed ? [:] : otherSides(of: changes)
                refresh(updated, otherSides: sides)
                note(
                    entities: changes.isOverflowed
                        ? Set(model.entities.keys) : Set(changes.runs.map(\.run.entityName)))
            }
            return updated.map(\.identifier)
        }
    }

    /// Records objects that others have inserted. Their values are read when they are used. Of very
    /// many, only the entity is recorded.
    private func noteInserts(in runs: [(store: UUID, run: HistoryRun)]) {
        guard changes != nil else { return }
        var identifiers: [PersistentIdentifier] = []
        for (store, run) in runs where run.kind == .inserted {
            for key in run.keys.prefix(ContextChanges.countMax - identifiers.count) {
                identifiers.append(
                    PersistentIdentifier(store: store, entityName: run.entityName, key: key))
            }
        }
        noteInserts(identifiers)
    }

    /// Records objects as inserted by others.
    func noteInserts(_ identifiers: [PersistentIdentifier]) {
        for identifier in identifiers {
            guard let object = try? unreadObject(for: identifier), object.status == .saved else {
                continue
            }
            note(object, .inserted)
        }
    }

    /// Merges what others have inserted and deleted, as far as the stores say the same.
    package func merge(inserts: [PersistentIdentifier], deletions: [PersistentIdentifier]) {
        locked {
            let new = inserts.filter { !$0.isTemporary && registeredObject(for: $0) == nil }
            // An object that was deleted since then is not registered.
            let found = existing(among: new)
            noteInserts(new.filter { found?.contains($0) ?? true })
            let known = deletions.compactMap { registeredObject(for: $0) }
            for object in missing(among: known.filter { $0.status == .saved }) {
                becomeGone(object)
            }
        }
    }

    /// The registered objects of a run.
    private func registered(in run: HistoryRun, _ store: UUID) -> [StoredObject] {
        guard run.keys.count > registeredCount else {
            return run.keys.compactMap { key in
                registeredObject(
                    for: PersistentIdentifier(store: store, entityName: run.entityName, key: key))
            }
        }
        return registered.filter { object in
            let identifier = object.identifier
            guard identifier.store == store, identifier.entityName == run.entityName,
                let key = identifier.permanentKey
            else { return false }
            return run.keys.contains(key)
        }
    }

    /// The objects that their stores do not have any more.
    private func missing(among objects: [StoredObject]) -> [StoredObject] {
        // An object that cannot be read is not known to be gone.
        guard let found = existing(among: objects.map(\.identifier)) else { return [] }
        return objects.filter { !found.contains($0.identifier) }
    }

    /// The identifiers of objects that the stores have; nil if these cannot be read.
    private func existing(
        among identifiers: [PersistentIdentifier]
    ) -> Set<PersistentIdentifier>? {
        var found: Set<PersistentIdentifier> = []
        for store in model.allStores {
            let own = identifiers.filter { $0.store == store.identifier }
            var start = 0
            while start < own.count {
                let part = Array(own[start...].prefix(Self.readMax))
                start += part.count
                let batches: [Batch]
                do throws(LarderError) {
                    batches = try store.objects(part, properties: [])
                } catch {
                    readFailed(error)
                    return nil
                }
                for batch in batches {
                    guard let identity = batch.identity else { continue }
                    for row in 0..<batch.rowCount {
                        found.insert(identity.identifier(at: row, in: store.identifier))
                    }
                }
            }
        }
        return found
    }

    private static var readMax: Int { 1_000 }

    /// The object was deleted by others. Observers of its properties are notified, so that what
    /// shows it can say so.
    func becomeGone(_ object: StoredObject) {
        removeGone(object)
        for property in object.entity?.properties ?? [] { notify(object, property.slot) }
    }

    // MARK: - Refreshing

    /// The relationships whose values changes of the objects on the other side may have changed.
    private func otherSides(of changes: CommitsOfOthers.Changes) -> [String: Set<Int>] {
        var sides: [String: Set<Int>] = [:]
        for (_, run) in changes.runs {
            guard let entity = model.entities[run.entityName] else { continue }
            for property in entity.properties where property.kind != .attribute {
                guard run.kind != .updated || run.properties.contains(property.name),
                    let name = property.relationship?.destination,
                    let destination = model.entities[name],
                    let inverse = model.inverse(of: property, in: destination)
                else { continue }
                sides[name, default: []].insert(inverse.slot)
            }
        }
        return sides
    }

    private func refresh(_ updated: [StoredObject], otherSides: [String: Set<Int>]) {
        var rows = updated
        var lists = updated
        if !otherSides.isEmpty {
            for object in registered where object.status == .saved {
                guard let entity = object.entity else { continue }
                for (name, slots) in otherSides where model.isOf(entity.name, name) {
                    let known = slots.filter { object[$0] != nil }
                    if known.contains(where: { entity.properties[$0].kind == .toMany }) {
                        lists.append(object)
                    }
                    if known.contains(where: { entity.properties[$0].kind == .toOne }) {
                        rows.append(object)
                    }
                }
            }
        }
        // Objects whose values were never read are read when they are used.
        rows = rows.filter(\.hasValues)
        var seen: Set<ObjectIdentifier> = []
        do throws(LarderError) {
            try read(Array(Set(rows.map(\.identifier))))
            try refreshLists(of: lists.filter { seen.insert(ObjectIdentifier($0)).inserted })
        } catch {
            readFailed(error)
        }
    }
}
