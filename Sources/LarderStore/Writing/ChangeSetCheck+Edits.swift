import LarderModel

// The differences that a change makes to lists.
extension ChangeSetCheck {
    /// - Parameter given: What the change sets whole, and may not edit.
    mutating func planned(
        _ edits: [RelationshipEdit], _ given: [String: Value], _ subject: ObjectKey, _ place: Int
    ) -> [PlannedEdit] {
        var planned: [PlannedEdit] = []
        for edit in edits.prefix(Limits.editsMax) {
            attempt(place) { check throws(LarderError) in
                planned.append(try check.planned(edit, given, subject))
            }
        }
        if edits.count > Limits.editsMax {
            attempt(place) { _ throws(LarderError) in
                throw LarderError(
                    .resourceExhausted,
                    "a change makes at most \(Limits.editsMax) edits, not \(edits.count)")
            }
        }
        return planned
    }

    private mutating func planned(
        _ edit: RelationshipEdit, _ given: [String: Value], _ subject: ObjectKey
    ) throws(LarderError) -> PlannedEdit {
        let stored = try editedRelationship(edit.propertyName, subject)
        guard given[edit.propertyName] == nil else {
            throw invalid("\(stored.qualifiedName) is set whole, and edited", stored)
        }
        guard edit.objects.count <= Limits.editedObjectsMax else {
            throw LarderError(
                .resourceExhausted,
                "an edit takes at most \(Limits.editedObjectsMax) objects, not "
                    + "\(edit.objects.count)")
        }
        let targets = try distinctTargets(edit.objects, stored)
        let kind: PlannedEdit.Kind
        switch edit {
        case .remove: kind = .remove
        case .add(_, _, let place):
            guard stored.relationship.isOrdered || place == .last else {
                throw invalid("\(stored.qualifiedName) has no order, and so no places", stored)
            }
            kind = .add(try planned(place, targets, stored))
        case .move(_, _, let place):
            guard stored.relationship.isOrdered else {
                throw invalid("\(stored.qualifiedName) has no order to move in", stored)
            }
            kind = .move(try planned(place, targets, stored))
        }
        return PlannedEdit(relationship: stored.number, kind: kind, targets: targets)
    }

    private func editedRelationship(
        _ name: String, _ subject: ObjectKey
    ) throws(LarderError) -> StoredRelationship {
        let entity = schema.entities[subject.entity]
        guard let place = entity.places[name] else { throw unknown(name, entity) }
        guard case .relationship(let number) = place,
            schema.relationships[number].relationship.isToMany
        else {
            let entityName = entity.name
            throw LarderError(
                ChangeFault(
                    .wrongType, "\(entityName).\(name) is no to-many relationship to edit",
                    entityName: entityName, propertyNames: [name], rule: .type),
                hint: "set its value")
        }
        return schema.relationships[number]
    }

    private mutating func planned(
        _ place: ListPlace, _ targets: [Assignment.Target], _ stored: StoredRelationship
    ) throws(LarderError) -> PlannedEdit.Place {
        func neighbor(_ identifier: PersistentIdentifier) throws(LarderError) -> Assignment.Target {
            let neighbor = try target(identifier, stored)
            guard !targets.contains(neighbor) else { throw .besideItself(stored) }
            return neighbor
        }
        switch place {
        case .first: return .first
        case .last: return .last
        case .before(let identifier): return .before(try neighbor(identifier))
        case .after(let identifier): return .after(try neighbor(identifier))
        case .index(let index):
            guard index >= 0 else {
                throw invalid("an edit of \(stored.qualifiedName) has a negative index", stored)
            }
            return .index(index)
        }
    }

    private func invalid(_ message: String, _ stored: StoredRelationship) -> LarderError {
        LarderError(
            ChangeFault(
                .invalidChangeSet, message, entityName: stored.entityName,
                propertyNames: [stored.relationship.name]))
    }
}
