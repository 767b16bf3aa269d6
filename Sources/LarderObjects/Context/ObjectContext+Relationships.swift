package import LarderModel

// Both sides of a relationship are set at once. A list that was not read yet is not read for that:
// `PendingLinks` adds the pending changes when it is read. A link to an object that will be deleted
// stays in the values until the save, and is not shown.

extension ObjectContext {
    /// Sets a to-one relationship, with its inverse.
    package func setToOne(_ object: StoredObject, _ slot: Int, _ target: StoredObject?) {
        locked {
            guard mayChange(object, slot) else { return }
            let new = target?.identifier
            let old = related(of: object, slot).first
            object.refusals[slot] = nil
            guard old != new else { return }
            write(new.map { .object($0) } ?? .null, of: object, slot)
            guard let inverse = inverse(of: object, slot) else { return }
            if let old { removeInverse(of: old, inverse, object) }
            if let target { addInverse(to: target, inverse, object, slot) }
        }
    }

    /// Sets a to-many relationship, with its inverse.
    package func setToMany(
        _ object: StoredObject, _ slot: Int, _ targets: [PersistentIdentifier]
    ) {
        locked {
            guard mayChange(object, slot) else { return }
            if object.status == .inserted, !targets.isEmpty { object.assignedLists.insert(slot) }
            var seen: Set<PersistentIdentifier> = []
            var new = targets.filter { seen.insert($0).inserted }
            var old = related(of: object, slot)
            listStepCount += old.count + new.count
            // The caller does not see the members that will be deleted.
            new += old.filter { identifier in
                registeredObject(for: identifier)?.status == .deleted
                    && seen.insert(identifier).inserted
            }
            object.refusals[slot] = nil
            guard old != new else { return }
            let former = Set(old)
            let changed = old.filter { !seen.contains($0) } + new.filter { !former.contains($0) }
            // That may drop members that do not exist any more.
            let loaded = loadRelated(changed, of: object, slot)
            old = related(of: object, slot)
            let first = zip(old, new).prefix { $0 == $1 }.count
            let sameCount = min(old.count, new.count) - first
            let last = zip(old.reversed(), new.reversed()).prefix { $0 == $1 }.count
            let suffix = min(last, sameCount)
            let range = first..<old.count - suffix
            old = []
            withExtendedLifetime(loaded) {
                replaceMembers(
                    of: object, slot, range, with: Array(new[first..<new.count - suffix]))
            }
        }
    }

    /// The identifiers of the related objects: at most one of a to-one relationship.
    package func related(of object: StoredObject, _ slot: Int) -> [PersistentIdentifier] {
        if object[slot] == nil { load(object, slot) }
        return object[slot]?.links ?? []
    }

    private func write(_ value: Value, of object: StoredObject, _ slot: Int) {
        willChange(object, slot)
        object[slot] = value
    }

    func inverse(of object: StoredObject, _ slot: Int) -> ObjectProperty? {
        guard let entity = object.entity else { return nil }
        let property = entity.properties[slot]
        guard let relationship = property.relationship,
            let destination = model.entities[relationship.destination]
        else { return nil }
        return model.inverse(of: property, in: destination)
    }

    func removeInverse(
        of identifier: PersistentIdentifier, _ inverse: ObjectProperty, _ object: StoredObject
    ) {
        // A list that the context does not have is read with the pending changes.
        let known = registeredObject(for: identifier)
        guard let target = inverse.kind == .toOne ? known ?? loaded(identifier) : known,
            target.isManaged, target.status != .deleted
        else { return }
        switch inverse.kind {
        case .attribute: break
        case .toOne:
            guard canRead(target, inverse.slot) else { break }
            guard related(of: target, inverse.slot).first == object.identifier else { return }
            write(.null, of: target, inverse.slot)
        case .toMany:
            touch(target)
            remove(object.identifier, from: target, inverse.slot)
        }
        notify(target, inverse.slot)
    }

    func addInverse(
        to target: StoredObject, _ inverse: ObjectProperty, _ object: StoredObject, _ slot: Int
    ) {
        guard target.isManaged, target.status != .deleted else { return }
        switch inverse.kind {
        case .attribute: break
        case .toOne:
            guard canRead(target, inverse.slot) else { break }
            let former = related(of: target, inverse.slot).first
            guard former != object.identifier else {
                target.refusals[inverse.slot] = nil
                return
            }
            write(.object(object.identifier), of: target, inverse.slot)
            guard let former else { break }
            let known = registeredObject(for: former)
            // The objects are of the entity of the relationship, or of its subentities.
            let isToOne = object.entity?.properties[slot].kind == .toOne
            if let owner = isToOne ? known ?? loaded(former) : known {
                release(target, from: owner, slot)
            }
        case .toMany:
            touch(target)
            guard target[inverse.slot] != nil else { break }
            guard position(of: object.identifier, in: target, inverse.slot) == nil else { return }
            let end = target.linkCount(at: inverse.slot)
            edit(target, inverse.slot, end..<end, with: [object.identifier])
        }
        notify(target, inverse.slot)
    }

    /// Removes an object from the relationship of its former owner.
    private func release(_ target: StoredObject, from owner: StoredObject, _ slot: Int) {
        guard owner.isManaged, owner.status != .deleted else { return }
        switch owner.entity?.properties[slot].kind {
        case .toOne?:
            guard related(of: owner, slot).first == target.identifier else { return }
            write(.null, of: owner, slot)
        case .toMany?:
            touch(owner)
            remove(target.identifier, from: owner, slot)
        default: return
        }
        notify(owner, slot)
    }

    /// Removes a member from a list, if it was read.
    private func remove(
        _ member: PersistentIdentifier, from owner: StoredObject, _ slot: Int
    ) {
        guard let position = position(of: member, in: owner, slot) else { return }
        edit(owner, slot, position..<position + 1, with: [])
    }

    /// A change of a to-many relationship is a change of its owner, from whichever side it is made.
    func touch(_ object: StoredObject) {
        note(object, .updated)
        guard object.status == .saved else { return }
        if !object.isTouched { record(.touched(object, before: false)) }
        object.isTouched = true
        addUpdated(object)
    }

    // MARK: - Instances

    func relatedOwners(of object: StoredObject, at slot: Int) -> [any ObjectOwner] {
        locked { relatedObjects(of: object, at: slot).map(instance(of:)) }
    }

    /// The related objects, without those that will be deleted.
    package func relatedObjects(of object: StoredObject, at slot: Int) -> [StoredObject] {
        locked {
            let identifiers = related(of: object, slot)
            guard !identifiers.isEmpty else { return [] }
            listStepCount += identifiers.count
            let shown = loadRelated(identifiers, of: object, slot).filter {
                $0.status != .deleted || object.status == .deleted
            }
            keep(shown)
            return shown
        }
    }
}
