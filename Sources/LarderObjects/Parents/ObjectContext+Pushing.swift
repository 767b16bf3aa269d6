internal import LarderModel

// A save of a context with a parent makes its changes changes of the parent. Nothing of it can
// fail: the parent has the changes in memory, and the store checks them when the parent is saved.

extension ObjectContext {
    /// Makes all changes changes of the parent. Called under the lock.
    func push(to parent: ObjectContext) -> Saved {
        let inserts = inserted.values.inOrder
        let updates = updated.values.inOrder
        let deletions = deleted.values.inOrder
        let saved = parent.locked {
            for object in inserts { insert(object, into: parent) }
            var present = inserts
            for object in updates {
                if pushTarget(of: object, in: parent) != nil {
                    present.append(object)
                } else {
                    removeGone(object)
                    unlink(object)
                }
            }
            for object in present { pushValues(of: object, to: parent) }
            for object in present { pushLists(of: object, to: parent) }
            for object in deletions {
                if let target = pushTarget(of: object, in: parent) { parent.delete(target) }
                removeGone(object)
                unlink(object)
            }
            return Saved(
                inserted: inserts, updated: present.filter { $0.status != .inserted },
                deleted: deletions)
        }
        for object in inserts + updates where object.status != .gone {
            object.status = .saved
            object.committed = [:]
            object.isTouched = false
            object.assignedLists = []
        }
        inserted = [:]
        updated = [:]
        deleted = [:]
        forgotten = []
        deletion = nil
        saveCount += 1
        keptLists.removeAll()
        return saved
    }

    private func insert(_ object: StoredObject, into parent: ObjectContext) {
        guard let entity = object.entity else { return }
        if let known = parent.registeredObject(for: object.identifier), known.isManaged {
            object.original = known
            return
        }
        let instance = entity.ownerClass.make(StoredObject())
        let new = instance._$object
        new.identifier = object.identifier
        for property in entity.properties where property.kind == .attribute && !property.isDerived {
            if let value = object[property.slot] { new[property.slot] = value }
        }
        parent.add(instance, entity)
        object.original = new
    }

    /// The object of the parent that gets the changes of one; nil if the parent has deleted it.
    private func pushTarget(of object: StoredObject, in parent: ObjectContext) -> StoredObject? {
        guard let original = original(of: object, in: parent),
            original.status == .saved || original.status == .inserted
        else { return nil }
        return original
    }

    /// The object of the parent with an identifier.
    private func target(
        _ identifier: PersistentIdentifier, in parent: ObjectContext
    ) -> StoredObject? {
        if let object = registeredObject(for: identifier) {
            guard object.status == .inserted || object.status == .saved else { return nil }
            return pushTarget(of: object, in: parent)
        }
        return parent.registeredObject(for: identifier)
            ?? (identifier.isTemporary ? nil : parent.loaded(identifier))
    }

    /// Whether a property has a change to push.
    private func isChanged(_ object: StoredObject, _ property: ObjectProperty) -> Bool {
        guard let value = object[property.slot] else { return false }
        if object.status == .inserted { return !value.links.isEmpty }
        return object.committed[property.slot].map { $0 != value } ?? false
    }

    /// Sets changed attributes and to-one relationships.
    private func pushValues(of object: StoredObject, to parent: ObjectContext) {
        guard let original = object.original, let entity = object.entity else { return }
        for property in entity.properties
        where property.kind != .toMany && !property.isDerived && isChanged(object, property) {
            guard let value = object[property.slot] else { continue }
            if property.kind == .attribute {
                parent.setValue(value, of: original, at: property.slot)
            } else {
                let new = value.links.first.flatMap { target($0, in: parent) }
                parent.setToOne(original, property.slot, new)
            }
            parent.notify(original, property.slot)
        }
    }

    /// Changes lists. One whose other side is a to-one relationship was changed by that, but for
    /// its order.
    private func pushLists(of object: StoredObject, to parent: ObjectContext) {
        guard let original = object.original, let entity = object.entity else { return }
        for property in entity.relationships
        where property.kind == .toMany && isChanged(object, property) {
            let isOrdered = property.relationship?.isOrdered == true
            if inverse(of: object, property.slot)?.kind == .toOne, !isOrdered { continue }
            let own = object[property.slot]?.links ?? []
            let former = Set(object.committed[property.slot]?.links ?? [])
            let members = own.compactMap { target($0, in: parent) }
            let known = Set(members.map(\.identifier))
            let current = parent.related(of: original, property.slot)
            let others = current.filter { !known.contains($0) && !former.contains($0) }
            var list = members.map(\.identifier) + others
            if !isOrdered {
                let members = Set(list)
                let kept = current.filter(members.contains)
                let listed = Set(kept)
                list = kept + list.filter { !listed.contains($0) }
            }
            parent.setToMany(original, property.slot, list)
            parent.notify(original, property.slot)
        }
    }
}
