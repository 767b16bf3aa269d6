package import LarderModel

// Values that a context forgets because a program asks for it, so that they are read again.

extension ObjectContext {
    /// The stored values of the properties that were changed, by slot.
    package func committedValues(of object: StoredObject) -> [Int: Value] {
        locked { object.committed }
    }

    /// The objects of the stores that the context has, without those that will be deleted.
    package var savedObjects: [StoredObject] {
        locked { registered.filter { $0.status == .saved } }
    }

    /// Forgets the values of a saved object, which are read again when they are used.
    ///
    /// - Parameter mergesChanges: Whether changes stay. Otherwise they are discarded, on both sides
    ///   of relationships.
    package func refresh(_ object: StoredObject, mergesChanges: Bool) {
        locked {
            guard object.context === self, object.status == .saved, let entity = object.entity
            else { return }
            if !mergesChanges { discardChanges(of: object) }
            for property in entity.properties
            where property.ephemeralValue == nil && object.committed[property.slot] == nil
                && object[property.slot] != nil
            {
                object[property.slot] = nil
                notify(object, property.slot)
            }
        }
    }

    private func discardChanges(of object: StoredObject) {
        for (slot, value) in object.committed.sorted(by: { $0.key < $1.key }) {
            if object.entity?.properties[slot].kind == .attribute {
                object[slot] = value
            } else {
                let targets = value.links.compactMap { registeredObject(for: $0) }
                setRelated(targets, of: object, slot)
            }
            notify(object, slot)
        }
        object.committed = [:]
        object.isTouched = false
        object.refusals = [:]
        updated[ObjectIdentifier(object)] = nil
    }

    /// Discards all changes, and forgets all objects: those that a program still has are in no
    /// context.
    package func reset() {
        locked {
            rollback()
            for object in registered {
                unregister(object.identifier)
                object.status = .unmanaged
                object.context = nil
                object.siblings = nil
            }
            kept = []
            noteReset()
        }
    }
}
