package import LarderModel

extension ObjectContext {
    /// Objects that a fetch has found, to be deleted.
    struct Deletion {
        let fetch: ObjectFetch
        let identifiers: Set<PersistentIdentifier>
    }

    /// Marks the objects that match to be deleted by the next save, pending ones included.
    ///
    /// - Throws: errors of the store and of the predicate.
    package func delete(_ fetch: ObjectFetch) throws(LarderError) {
        try locked { () throws(LarderError) in
            let hadChanges = hasChanges
            let found = try self.fetch(fetch)
            for object in found { delete(object) }
            deletion =
                hadChanges
                ? nil : Deletion(fetch: fetch, identifiers: Set(found.map(\.identifier)))
        }
    }

    /// The fetch that has found exactly these objects, if the context deletes them by one.
    func fetch(deleting objects: [StoredObject]) -> ObjectFetch? {
        guard let deletion, deletion.identifiers == Set(objects.map(\.identifier)) else {
            return nil
        }
        return deletion.fetch
    }

    /// Marks an object to be deleted by the next save. An object that was never saved is forgotten;
    /// its delete rules apply at the next save, too.
    package func delete(_ object: StoredObject) {
        locked {
            guard object.context === self else { return }
            switch object.status {
            case .unmanaged, .deleted, .gone: return
            case .inserted:
                recordDeletion(of: object)
                removeGone(object)
                unlink(object)
                if !cascades(of: object).isEmpty { forgotten.append(object) }
            case .saved:
                recordDeletion(of: object)
                note(object, .deleted)
                updated[ObjectIdentifier(object)] = nil
                object.status = .deleted
                statusRevision += 1
                object.order = nextOrder()
                deleted[ObjectIdentifier(object)] = object
                // Others do not show it any more, although their values refer to it until the save.
                for (target, slot) in linkedObjects(of: object) { notify(target, slot) }
            }
        }
    }

    /// Takes the deletion of an object back.
    func cancelDeletion(_ object: StoredObject) {
        deleted[ObjectIdentifier(object)] = nil
        object.status = .saved
        statusRevision += 1
        record(.inserted(object))
        note(object, .inserted)
        // Changes of others' relationships did not reach its lists while it was deleted.
        forgetLists(of: object)
        if !object.committed.isEmpty || object.isTouched { addUpdated(object) }
        for (target, slot) in linkedObjects(of: object) { notify(target, slot) }
    }

    /// Removes an object that does not exist any more from the relationships of others.
    func unlink(_ object: StoredObject) {
        for (target, slot) in linkedObjects(of: object) {
            if target.entity?.properties[slot].kind == .toMany {
                dropMember(object.identifier, from: target, slot)
            } else {
                drop([object.identifier], from: target, slot)
            }
        }
    }

    /// The objects that refer to an object by the inverse of one of its relationships.
    private func linkedObjects(of object: StoredObject) -> [(StoredObject, Int)] {
        guard let entity = object.entity else { return [] }
        var linked: [(StoredObject, Int)] = []
        for property in entity.properties where property.kind != .attribute {
            guard let links = object[property.slot]?.links, !links.isEmpty,
                let inverse = inverse(of: object, property.slot)
            else { continue }
            for identifier in links {
                guard let target = registeredObject(for: identifier), target !== object,
                    refers(target, inverse, to: object.identifier)
                else { continue }
                linked.append((target, inverse.slot))
            }
        }
        return linked
    }

    private func refers(
        _ object: StoredObject, _ property: ObjectProperty, to identifier: PersistentIdentifier
    ) -> Bool {
        guard property.kind == .toMany else {
            return object[property.slot]?.links.first == identifier
        }
        return position(of: identifier, in: object, property.slot) != nil
    }

    /// Forgets the lists that the context has not changed; they are read again.
    private func forgetLists(of object: StoredObject) {
        for property in object.entity?.properties ?? []
        where property.kind == .toMany && object.committed[property.slot] == nil
            && object[property.slot] != nil
        {
            object[property.slot] = nil
            notify(object, property.slot)
        }
    }

    private func cascades(of object: StoredObject) -> [ObjectProperty] {
        object.entity?.properties.filter { $0.relationship?.deleteRule == .cascade } ?? []
    }

    /// Marks the objects that the delete rule cascade takes.
    package func propagateDeletions() {
        // A forgotten object may have been inserted again.
        var pending = deleted.values.inOrder + forgotten.filter { $0.status == .gone }
        while let object = pending.popLast() {
            for property in cascades(of: object) {
                let identifiers = related(of: object, property.slot)
                for taken in loadRelated(identifiers, of: object, property.slot)
                where isTaken(taken, with: object, property) {
                    delete(taken)
                    pending.append(taken)
                }
            }
        }
        // A save that a failed read ends is repeated.
        if failedReads.forSave == nil { forgotten = [] }
    }

    /// Whether an object that a deleted one refers to is deleted with it. What has another owner by
    /// now stays. What an object that was never saved has owned has no owner since it was deleted.
    private func isTaken(
        _ target: StoredObject, with object: StoredObject, _ property: ObjectProperty
    ) -> Bool {
        guard target.status == .saved || target.status == .inserted else { return false }
        guard let inverse = inverse(of: object, property.slot), inverse.kind == .toOne else {
            return true
        }
        let owner = related(of: target, inverse.slot).first
        return owner == object.identifier || owner == nil && object.status == .gone
    }

    // MARK: - Rollback

    /// Discards all changes: inserted objects have no context any more, deleted ones are there
    /// again, and changed properties have their stored values.
    package func rollback() {
        locked {
            for object in deleted.values.inOrder { cancelDeletion(object) }
            for object in inserted.values.inOrder {
                removeGone(object)
                object.status = .unmanaged
                object.context = nil
                object.siblings = nil
                object.refusals = [:]
            }
            for object in updated.values.inOrder {
                for (slot, value) in object.committed.sorted(by: { $0.key < $1.key }) {
                    object[slot] = value
                    notify(object, slot)
                }
                // Lists that were read while there were changes contain them.
                if object.isTouched { forgetLists(of: object) }
                object.committed = [:]
                object.isTouched = false
                object.refusals = [:]
            }
            inserted = [:]
            updated = [:]
            deleted = [:]
            forgotten = []
            _ = undoLog?.removeSteps()
            deletion = nil
            refusedCalls = []
            failedReads.forSave = nil
            keptLists.removeAll()
        }
    }
}
