internal import LarderModel

// Values that were set and that the store cannot have. A setter throws no error, so that the next
// save does.

/// Why a change of a property is not saved.
struct Refusal {
    /// The reason why the last change cannot be saved.
    var change: String?
    /// The reason why the stored value could not be read when the property was used. It concerns
    /// the next change.
    var read: String?
    /// Whether a save has thrown the reason of a change.
    var isReported = false
}

extension ObjectContext {
    /// Sets a relationship. An object of another context of the same store is taken by its
    /// identifier.
    package func setRelated(_ targets: [StoredObject], of object: StoredObject, _ slot: Int) {
        locked {
            let (own, refusal) = ownObjects(for: targets, of: object, slot)
            if object.entity?.properties[slot].kind == .toMany {
                setToMany(object, slot, own.map(\.identifier))
            } else {
                setToOne(object, slot, own.first)
            }
            if let refusal { refuse(refusal, of: object, slot) }
        }
    }

    /// The objects of this context for those to which a relationship is set, without those that
    /// were deleted.
    ///
    /// - Returns: the objects, and why there is none for one of them.
    func ownObjects(
        for targets: [StoredObject], of object: StoredObject, _ slot: Int
    ) -> (own: [StoredObject], refusal: String?) {
        var own: [StoredObject] = []
        var refusal: String?
        for target in targets {
            if target.isManaged, target.context === self {
                own.append(target)
                continue
            }
            let identifier = target.identifier
            let name = identifier.entityName.isEmpty ? "object" : identifier.entityName
            switch target.status {
            case .gone: continue
            case .unmanaged: refusal = "the \(name) is not in the schema of the context"
            case .inserted, .saved, .deleted:
                if identifier.isTemporary, let known = objectOfParent(identifier) {
                    own.append(known)
                } else if identifier.isTemporary {
                    refusal = """
                        the \(name) belongs to another context and is not saved; save that \
                        context, and set the relationship again
                        """
                } else if model.store(of: identifier) != nil,
                    // It reads nothing. An unknown entity is one of another store.
                    let known = try? self.object(for: identifier)
                {
                    own.append(known)
                } else {
                    refusal = "the \(name) belongs to another store; relate models of one store"
                }
            }
        }
        return (own, refusal)
    }

    func refuse(_ reason: String, of object: StoredObject, _ slot: Int) {
        locked {
            object.refusals[slot, default: Refusal()].change = reason
            touch(object)
        }
    }

    /// Makes the next save an error, because a call that throws no error had no effect.
    package func refuse(_ reason: String) { locked { refusedCalls.append(reason) } }

    /// Makes the next save an error, because an unsaved instance of another context was
    /// inserted.
    func refuseInsert(of object: StoredObject) {
        guard object.identifier.isTemporary else { return }
        let name = object.identifier.entityName
        refusedCalls.append(
            "\(name): it was inserted, and belongs to another context that has not saved it; "
                + "insert it into one context")
    }

    /// - Throws: `validationFailed` with each value of the changed objects that cannot be saved,
    ///   and each instance that was refused since the last save.
    func checkRefusals() throws(LarderError) {
        var violations = refusedCalls.map { ChangeViolation(.validationFailed, $0) }
        refusedCalls = []
        for object in inserted.values.inOrder + updated.values.inOrder {
            let refusals = object.refusals
            guard !refusals.isEmpty, let entity = object.entity else { continue }
            for (slot, refusal) in refusals.sorted(by: { $0.key < $1.key }) {
                guard let reason = refusal.change else { continue }
                object.refusals[slot]?.isReported = true
                let property = entity.properties[slot].name
                violations.append(
                    ChangeViolation(
                        .validationFailed, "\(entity.name).\(property): \(reason)",
                        entityName: entity.name, propertyNames: [property],
                        uri: object.identifier.uriRepresentation, rule: .type))
            }
        }
        guard let first = violations.first else { return }
        throw LarderError(
            first.code, violations.map(\.message).joined(separator: "; "), uri: first.uri,
            details: violations)
    }
}
