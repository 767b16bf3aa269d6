import LarderModel

// The values of a change, and the state of its object that it is based on.
extension ChangeSetCheck {
    mutating func planned(
        _ change: Change, _ subject: ObjectKey, _ index: Int, _ set: ChangeSet
    ) -> PlannedChange? {
        switch change {
        case .updateAll, .deleteAll: return nil
        case .delete(_, let ifVersion):
            if ifVersion != nil { hasExpectations = true }
            return .delete(subject, Expectation(version: ifVersion))
        case .insert(_, let given, let edits):
            var values = properties(given, subject, index)
            values.edits = planned(edits, given, subject, index)
            return .insert(insert(given, values, subject, index, set.onUniqueConflict))
        case .update(_, let ifVersion, let given, let base, let edits):
            var expectation = expectation(base, subject, index, set.mergePolicy)
            expectation.version = ifVersion
            if !expectation.isEmpty { hasExpectations = true }
            if set.mergePolicy == .storeWins, !expectation.isEmpty {
                for name in given.keys.sorted() where base[name] == nil {
                    attempt(index) { check throws(LarderError) in
                        throw check.missingBase(name, subject)
                    }
                }
            }
            var values = properties(given, subject, index)
            values.edits = planned(edits, given, subject, index)
            return .update(subject, expectation, values)
        }
    }

    private func missingBase(_ name: String, _ subject: ObjectKey) -> LarderError {
        let entityName = schema.entities[subject.entity].name
        return LarderError(
            ChangeViolation(
                .invalidChangeSet,
                "\(entityName).\(name) is set without its base value",
                entityName: entityName, propertyNames: [name]),
            hint: "the merge policy storeWins compares each property with its base value")
    }

    private mutating func insert(
        _ given: [String: Value], _ planned: PlannedValues, _ subject: ObjectKey, _ index: Int,
        _ policy: UniqueConflictPolicy
    ) -> PlannedInsert {
        let attributes = schema.entities[subject.entity].attributes
        var row: [SQLValue] = []
        row.reserveCapacity(attributes.count)
        var missing: [LarderError] = []
        var next = 0
        for (number, stored) in attributes.enumerated() {
            if next < planned.attributes.count, planned.attributes[next].attribute == number {
                row.append(planned.attributes[next].value)
                next += 1
                continue
            }
            row.append(.null)
            guard !stored.attribute.isDerived, given[stored.attribute.name] == nil else { continue }
            attempt(index, isOfValue: true) { check throws(LarderError) in
                do throws(LarderError) {
                    row[number] = try check.values.storedDefault(stored)
                } catch {
                    guard policy == .upsert else { throw error }
                    missing.append(error)
                }
            }
        }
        if !errors.isEmpty || !missing.isEmpty {
            for (number, stored) in attributes.enumerated() where row[number] == .null {
                row[number] = stored.placeholder ?? .null
            }
        }
        return PlannedInsert(
            object: subject, row: row, values: planned, missing: missing)
    }

    /// The values by property, in the order of the schema, so that equal sets have equal effects.
    private mutating func properties(
        _ given: [String: Value], _ subject: ObjectKey, _ index: Int
    ) -> PlannedValues {
        let entity = schema.entities[subject.entity]
        var planned = PlannedValues()
        planned.attributes.reserveCapacity(given.count)
        var failed: [(name: String, error: LarderError, isOfValue: Bool)] = []
        for (name, value) in given {
            do throws(LarderError) {
                try plan(value, of: name, entity, &planned)
            } catch {
                var isOfValue = false
                if case .attribute? = entity.properties[name] { isOfValue = true }
                failed.append((name, error, isOfValue))
            }
        }
        if !failed.isEmpty {
            for (_, error, isOfValue) in failed.sorted(by: { $0.name < $1.name }) {
                attempt(index, isOfValue: isOfValue) { _ throws(LarderError) in throw error }
            }
        }
        planned.attributes.sort { $0.attribute < $1.attribute }
        planned.assignments.sort { $0.relationship < $1.relationship }
        return planned
    }

    private mutating func plan(
        _ value: Value, of name: String, _ entity: StoredEntity, _ planned: inout PlannedValues
    ) throws(LarderError) {
        switch entity.properties[name] {
        case .attribute(let number):
            let attribute = entity.attributes[number]
            guard !attribute.attribute.isDerived else { throw Self.derivedError(attribute) }
            let stored = try values.stored(value, attribute)
            planned.attributes.append((attribute: number, value: stored))
        case .relationship(let number):
            let targets = try targets(value, number)
            planned.assignments.append(Assignment(relationship: number, targets: targets))
        case nil: throw unknown(name, entity)
        }
    }

    static func derivedError(_ attribute: StoredAttribute) -> LarderError {
        LarderError(
            ChangeViolation(
                .validationFailed, "\(attribute.qualifiedName) is derived and cannot be set",
                entityName: attribute.entityName, propertyNames: [attribute.attribute.name],
                rule: .derived),
            hint: "leave it out: the store computes it")
    }

    func unknown(_ name: String, _ entity: StoredEntity) -> LarderError {
        LarderError(.unknownProperty, "\(entity.name) has no property \(name)")
    }

    /// The base values in stored form. They may violate the bounds of the schema, and their objects
    /// may be deleted, except under the policy `overwrite`, which stores them.
    private mutating func expectation(
        _ base: [String: Value], _ subject: ObjectKey, _ index: Int, _ policy: MergePolicy
    ) -> Expectation {
        let entity = schema.entities[subject.entity]
        var expectation = Expectation()
        for name in base.keys.sorted() {
            guard let value = base[name] else { continue }
            attempt(index) { check throws(LarderError) in
                switch entity.properties[name] {
                case .attribute(let number):
                    let stored = entity.attributes[number]
                    // A derived attribute cannot be overwritten.
                    if policy == .overwrite, stored.attribute.isDerived { return }
                    let binding =
                        policy == .overwrite
                        ? try check.values.stored(value, stored)
                        : try SQLValue(
                            storing: value, as: stored.attribute.type, named: stored.qualifiedName)
                    expectation.attributes.append((attribute: number, value: binding))
                case .relationship(let number):
                    // A base may be nil even if nil cannot be stored.
                    let targets =
                        value == .null ? [] : try check.targets(value, number)
                    guard targets.allSatisfy({ $0.insertedBy == nil }) else {
                        throw LarderError(
                            .invalidChangeSet,
                            "the base of \(check.schema.relationships[number].qualifiedName) names "
                                + "an object that the set inserts")
                    }
                    expectation.relationships.append((relationship: number, targets: targets))
                case nil: throw check.unknown(name, entity)
                }
            }
        }
        expectation.attributes.sort { $0.attribute < $1.attribute }
        expectation.relationships.sort { $0.relationship < $1.relationship }
        return expectation
    }

    mutating func targets(_ value: Value, _ number: Int) throws(LarderError) -> [Assignment.Target]
    {
        let stored = schema.relationships[number]
        let relationship = stored.relationship
        let name = stored.qualifiedName
        switch value {
        case .objects(let identifiers) where relationship.isToMany:
            return try distinctTargets(identifiers, stored)
        case .object(let identifier) where !relationship.isToMany:
            return [try target(identifier, stored)]
        case .null where !relationship.isToMany:
            guard relationship.isOptional else {
                throw LarderError(stored.violation(.missingValue, "\(name) is required", .optional))
            }
            return []
        default:
            let wanted =
                relationship.isToMany
                ? "a list of \(relationship.destination) objects"
                : "an object of \(relationship.destination)"
            var violation = stored.violation(
                .wrongType, "\(name) takes \(wanted), not \(value.kindWithArticle)", .type)
            violation.valueKind = value.kindWithArticle
            throw LarderError(violation)
        }
    }

    mutating func distinctTargets(
        _ identifiers: [PersistentIdentifier], _ stored: StoredRelationship
    ) throws(LarderError) -> [Assignment.Target] {
        var targets: [Assignment.Target] = []
        var known: Set<Int64> = []
        for identifier in identifiers {
            let target = try self.target(identifier, stored)
            guard known.insert(target.key).inserted else {
                throw LarderError(
                    .invalidChangeSet,
                    "\(stored.qualifiedName) names \(identifier.uriRepresentation) twice")
            }
            targets.append(target)
        }
        return targets
    }

    mutating func target(
        _ identifier: PersistentIdentifier, _ stored: StoredRelationship
    ) throws(LarderError) -> Assignment.Target {
        let entity = try entityNumber(identifier.entityName, mayBeFormer: true)
        guard schema.isKind(entity, of: stored.destinationNumber) else {
            throw LarderError(
                .wrongType,
                "\(stored.qualifiedName) takes an object of \(stored.relationship.destination), "
                    + "not of \(identifier.entityName)")
        }
        switch identifier.key {
        case .permanent(let key):
            try checkStore(of: identifier)
            return Assignment.Target(
                object: ObjectKey(entity: entity, key: key), insertedBy: nil)
        case .temporary(let name):
            guard let insertion = insertion(named: name) else {
                throw LarderError(
                    .invalidChangeSet,
                    "\(stored.qualifiedName) names \(identifier.uriRepresentation), "
                        + "which the set does not insert")
            }
            guard schema.isKind(insertion.object.entity, of: entity) else {
                throw LarderError(
                    .invalidChangeSet,
                    "\(stored.qualifiedName) names \(identifier.uriRepresentation), which the set "
                        + "inserts as \(schema.entities[insertion.object.entity].name)")
            }
            return Assignment.Target(object: insertion.object, insertedBy: insertion.change)
        }
    }
}
