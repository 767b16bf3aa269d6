internal import LarderModel

extension ObjectContext {
    /// Marks an object to be deleted by the next save. An object that was never saved is forgotten.
    package func delete(_ object: StoredObject) {
        locked {
            guard object.context === self else { return }
            switch object.status {
            case .unmanaged, .deleted, .gone: return
            case .inserted:
                sever(object)
                object.severed = []
                removeGone(object)
            case .saved:
                updated[ObjectIdentifier(object)] = nil
                object.status = .deleted
                object.order = nextOrder()
                deleted[ObjectIdentifier(object)] = object
                sever(object)
            }
        }
    }

    /// Takes the deletion of an object back.
    func cancelDeletion(_ object: StoredObject) {
        deleted[ObjectIdentifier(object)] = nil
        object.status = .saved
        for link in object.severed.reversed() where link.object.isManaged {
            link.object[link.slot] = link.value
            notify(link.object, link.slot)
        }
        object.severed = []
        if !object.committed.isEmpty || object.isTouched { addUpdated(object) }
    }

    /// Removes an object from the relationships of others. The store does the same at the save, so
    /// it is no change of theirs.
    private func sever(_ object: StoredObject) {
        guard let entity = object.entity else { return }
        for property in entity.properties where property.kind != .attribute {
            guard let relationship = property.relationship, relationship.deleteRule != .noAction,
                let destination = model.entities[relationship.destination],
                let inverse = model.inverse(of: property, in: destination)
            else { continue }
            let identifiers: [PersistentIdentifier]
            switch object[property.slot] {
            case .object(let identifier)?: identifiers = [identifier]
            case .objects(let list)?: identifiers = list
            default: continue
            }
            for identifier in identifiers { sever(object, from: identifier, inverse.slot) }
        }
    }

    private func sever(
        _ object: StoredObject, from identifier: PersistentIdentifier, _ slot: Int
    ) {
        guard let target = registeredObject(for: identifier), target.isManaged else { return }
        let value = target[slot]
        switch value {
        case .object(let identifier)? where identifier == object.identifier:
            target[slot] = .null
        case .objects(var list)?:
            list.removeAll { $0 == object.identifier }
            target[slot] = .objects(list)
        default: return
        }
        object.severed.append(SeveredLink(object: target, slot: slot, value: value))
        notify(target, slot)
    }

    /// Marks the objects that the delete rule cascade takes.
    func propagateDeletions() {
        var pending = deleted.values.inOrder
        while let object = pending.popLast() {
            guard let entity = object.entity else { continue }
            for property in entity.properties
            where property.relationship?.deleteRule == .cascade {
                let identifiers = related(of: object, property.slot)
                loadRelated(identifiers, of: object, property.slot)
                for identifier in identifiers {
                    guard let taken = registeredObject(for: identifier),
                        taken.status == .saved || taken.status == .inserted
                    else { continue }
                    delete(taken)
                    if taken.status == .deleted { pending.append(taken) }
                }
            }
        }
    }

    // MARK: - Rollback

    /// Discards all changes: inserted objects have no context any more, deleted ones are there
    /// again, and changed properties have their stored values.
    package func rollback() {
        locked {
            for object in deleted.values.inOrder.reversed() { cancelDeletion(object) }
            for object in inserted.values.inOrder {
                removeGone(object)
                object.status = .unmanaged
                object.context = nil
                object.siblings = nil
            }
            for object in updated.values.inOrder {
                for (slot, value) in object.committed.sorted(by: { $0.key < $1.key }) {
                    object[slot] = value
                    notify(object, slot)
                }
                object.committed = [:]
                object.isTouched = false
            }
            inserted = [:]
            updated = [:]
            deleted = [:]
        }
    }
}
