import LarderModel

// Edits of to-many relationships.
extension ChangeSetCheck {
    /// - Parameter given: The properties that the change sets; it cannot edit them too.
    mutating func planned(
        _ edits: [RelationshipEdit], _ given: [String: Value], _ subject: ObjectKey, _ index: Int
    ) -> [PlannedEdit] {
        var planned: [PlannedEdit] = []
        for edit in edits.prefix(Limits.editsMax) {
            attempt(index) { check throws(LarderError) in
                planned.append(try check.planned(edit, given, subject))
            }
        }
        if edits.count > Limits.editsMax {
            attempt(index) { _ throws(LarderError) in
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
            throw invalid("\(stored.qualifiedName) is both set and edited", stored)
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
        case .add(_, _, let point):
            guard stored.relationship.isOrdered || point == .last else {
                throw invalid(
                    "\(stored.qualifiedName) is not ordered, so objects can only be added last",
                    stored)
            }
            kind = .add(try planned(point, targets, stored))
        case .move(_, _, let point):
            guard stored.relationship.isOrdered else {
                throw invalid(
                    "\(stored.qualifiedName) is not ordered, so objects cannot be moved", stored)
            }
            kind = .move(try planned(point, targets, stored))
        }
        return PlannedEdit(relationship: stored.number, kind: kind, targets: targets)
    }

    private func editedRelationship(
        _ name: String, _ subject: ObjectKey
    ) throws(LarderError) -> StoredRelationship {
        let entity = schema.entities[subject.entity]
        guard let property = entity.properties[name] else { throw unknown(name, entity) }
        guard case .relationship(let number) = property,
            schema.relationships[number].relationship.isToMany
        else {
            let entityName = entity.name
            throw LarderError(
                ChangeViolation(
                    .wrongType,
                    "\(entityName).\(name) is not a to-many relationship and cannot be edited",
                    entityName: entityName, propertyNames: [name], rule: .type),
                hint: "set its value instead")
        }
        return schema.relationships[number]
    }

    private mutating func planned(
        _ point: RelationshipPosition, _ targets: [Assignment.Target], _ stored: StoredRelationship
    ) throws(LarderError) -> PlannedEdit.InsertionPoint {
        func neighbor(_ identifier: PersistentIdentifier) throws(LarderError) -> Assignment.Target {
            let neighbor = try target(identifier, stored)
            guard !targets.contains(neighbor) else { throw .relativeToItself(stored) }
            return neighbor
        }
        switch point {
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
            ChangeViolation(
                .invalidChangeSet, message, entityName: stored.entityName,
                propertyNames: [stored.relationship.name]))
    }
}
