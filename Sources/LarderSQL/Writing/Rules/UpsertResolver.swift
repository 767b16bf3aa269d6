import LarderModel

/// Finds the object that an insert updates under the policy `upsert`, and replaces the keys of such
/// inserts in the rest of the change set.
struct UpsertResolver {
    /// The objects that have an insert's unique values.
    enum Match {
        case none
        case one(ObjectKey)
        /// Several objects, or one of another entity.
        case error(LarderError)
    }

    /// The key that an insert was to have, and the object that it updated instead.
    private var replacements: [ObjectKey: ObjectKey] = [:]

    // MARK: - Matching

    /// Finds the object by the values that the insert itself has. A relationship counts if the
    /// insert names it; a list that names the insert does not.
    func match(
        _ insert: PlannedInsert, _ uniqueness: UniquenessCheck, _ context: ChangeContext
    ) throws(SQLError) -> Match {
        let entity = context.schema.entities[insert.object.entity]
        var found: (object: ObjectKey, names: [String])?
        for (number, constraint) in entity.constraints.enumerated() {
            guard let values = uniqueValues(of: insert, constraint),
                let key = try context.key(constraint.match, values)
                    ?? uniqueness.object(withDeferred: values[0], number, of: entity, context)?.key
            else { continue }
            let object = try context.object(constraint.declarerNumber, key)
            guard object.entity == insert.object.entity else {
                // An object cannot change its entity.
                return .error(
                    try UniquenessCheck.error(constraint, entity, object, values, context))
            }
            guard let first = found else {
                found = (object, constraint.names)
                continue
            }
            guard first.object == object else {
                return .error(
                    try ambiguityError(entity, first, (object, constraint.names), context))
            }
        }
        return found.map { .one($0.object) } ?? .none
    }

    /// nil if one of the values is nil, which equals nothing, or is not known.
    private func uniqueValues(
        of insert: PlannedInsert, _ constraint: StoredConstraint
    ) -> [SQLValue]? {
        var values: [SQLValue] = []
        for property in constraint.properties {
            switch property {
            case .attribute(let number): values.append(insert.row[number])
            case .relationship(let number):
                guard
                    let assignment = insert.values.assignments.first(where: {
                        $0.relationship == number
                    }), let target = resolve(assignment).targets.first
                else { return nil }
                values.append(.integer(target.key))
            }
        }
        return values.isEmpty || values.contains(.null) ? nil : values
    }

    private func ambiguityError(
        _ entity: StoredEntity, _ first: (object: ObjectKey, names: [String]),
        _ second: (object: ObjectKey, names: [String]), _ context: ChangeContext
    ) throws(SQLError) -> LarderError {
        let isVisible = try [first.object, second.object].map { (object) throws(SQLError) in
            try context.isVisible(object)
        }
        func description(_ match: (object: ObjectKey, names: [String])) -> String {
            let names = match.names.map { "\(entity.name).\($0)" }
            guard isVisible[match.object == first.object ? 0 : 1] else {
                return "an object that this user may not see by \(names.joined(separator: " and "))"
            }
            let object = context.stableURI(of: match.object) ?? "another object of the set"
            return "\(object) by \(names.joined(separator: " and "))"
        }
        return LarderError(
            ChangeViolation(
                .uniquenessViolated,
                "the insert matches \(description(first)), and \(description(second))",
                entityName: entity.name, propertyNames: first.names + second.names,
                uri: isVisible[0] ? context.stableURI(of: first.object) : nil, rule: .unique),
            hint: "an insert can update only one object")
    }

    // MARK: - Replacing

    /// Records that an insert updated another object.
    mutating func replace(_ inserted: ObjectKey, with existing: ObjectKey) {
        replacements[inserted] = existing
    }

    mutating func removeReplacements() {
        replacements.removeAll(keepingCapacity: true)
    }

    /// The assignment with inserts replaced by the objects that they updated.
    func resolve(_ assignment: Assignment) -> Assignment {
        guard !replacements.isEmpty else { return assignment }
        return Assignment(
            relationship: assignment.relationship, targets: resolve(assignment.targets))
    }

    func resolve(_ edits: [PlannedEdit]) -> [PlannedEdit] {
        guard !replacements.isEmpty else { return edits }
        return edits.map { edit in
            PlannedEdit(
                relationship: edit.relationship, kind: resolve(edit.kind),
                targets: resolve(edit.targets))
        }
    }

    /// The identifier of the object that it means, for the arguments of a predicate.
    func resolve(
        _ identifier: PersistentIdentifier, _ context: ChangeContext
    ) -> PersistentIdentifier {
        guard !replacements.isEmpty, let key = identifier.permanentKey,
            let entity = context.schema.number(of: identifier.entityName),
            let object = replacements[ObjectKey(entity: entity, key: key)]
        else { return identifier }
        return context.identifier(of: object)
    }

    private func resolve(_ kind: PlannedEdit.Kind) -> PlannedEdit.Kind {
        switch kind {
        case .add(let point): .add(resolve(point))
        case .move(let point): .move(resolve(point))
        case .remove: .remove
        }
    }

    private func resolve(_ point: PlannedEdit.InsertionPoint) -> PlannedEdit.InsertionPoint {
        switch point {
        case .first, .last, .index: point
        case .before(let neighbor): .before(resolve(neighbor))
        case .after(let neighbor): .after(resolve(neighbor))
        }
    }

    private func resolve(_ targets: [Assignment.Target]) -> [Assignment.Target] {
        var resolved: [Assignment.Target] = []
        var known: Set<Int64> = []
        for target in targets {
            let target = resolve(target)
            // Two inserts may have updated the same object.
            if known.insert(target.key).inserted { resolved.append(target) }
        }
        return resolved
    }

    private func resolve(_ target: Assignment.Target) -> Assignment.Target {
        replacements[target.object].map {
            Assignment.Target(object: $0, insertedBy: nil)
        } ?? target
    }
}
