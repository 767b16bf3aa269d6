import LarderModel

/// Finds the changes that were based on another state of their object than the stored one, and
/// resolves them by the change set's merge policy.
///
/// It runs before the set changes anything: a caller cannot know what the set itself does.
struct ConflictResolver {
    let context: ChangeContext
    /// The indices of the changes whose conflicts were resolved, ascending.
    private(set) var merged: [Int] = []
    /// The number of bytes that the snapshots in errors may still have.
    private var snapshotBytesLeft = MergeConflict.snapshotBytesMax

    init(_ context: ChangeContext) { self.context = context }

    /// The changes as the merge policy leaves them; nil for a change that is skipped.
    mutating func resolve(_ set: PlannedChangeSet) throws(SQLError) -> [PlannedChange?] {
        guard set.hasExpectations else { return set.changes }
        var changes = set.changes
        for (index, planned) in set.changes.enumerated() where !context.errors.isFull {
            context.changeIndex = index
            switch planned {
            case .update(let object, let expectation, let values) where !expectation.isEmpty:
                let state = try state(of: object, expectation)
                guard !state.isAsExpected else { continue }
                changes[index] = try resolve(
                    state, object, expectation, values, set.mergePolicy, at: index)
            case .delete(let object, let expectation) where !expectation.isEmpty:
                let state = try state(of: object, expectation)
                guard !state.isAsExpected else { continue }
                if try !deletes(object, state, expectation, set.mergePolicy, at: index) {
                    changes[index] = nil as PlannedChange?
                }
            case .insert, .update, .delete, .updateAll, .deleteAll, nil: continue
            }
        }
        return changes
    }

    // MARK: - Stored state

    /// The stored state of an object, compared with what the caller read.
    private struct State {
        /// nil if the object is deleted.
        let version: Int64?
        /// The properties whose values differ.
        var attributes: Set<Int> = []
        var relationships: Set<Int> = []
        let isAsExpected: Bool
    }

    private func state(
        of object: ObjectKey, _ expectation: Expectation
    ) throws(SQLError) -> State {
        // An object that the user does not see is a deleted one.
        guard let version = try context.version(of: object), try context.isVisible(object) else {
            return State(version: nil, isAsExpected: false)
        }
        if version == expectation.version { return State(version: version, isAsExpected: true) }
        var attributes: Set<Int> = []
        for (number, base) in expectation.attributes
        where try storedValue(of: number, of: object) != base {
            attributes.insert(number)
        }
        var relationships: Set<Int> = []
        for (number, base) in expectation.relationships {
            let relationship = context.schema.relationships[number]
            let stored = try storedObjects(of: relationship, of: object)
            let base = base.map(\.object)
            let isEqual =
                relationship.relationship.isOrdered ? stored == base : Set(stored) == Set(base)
            if !isEqual { relationships.insert(number) }
        }
        return State(
            version: version, attributes: attributes, relationships: relationships,
            isAsExpected: expectation.version == nil && attributes.isEmpty
                && relationships.isEmpty)
    }

    private func storedValue(
        of attribute: Int, of object: ObjectKey
    ) throws(SQLError) -> SQLValue {
        let entity = context.schema.entities[object.entity]
        return try context.value(entity.rows[[attribute]].read, object.key) ?? .null
    }

    private func storedObjects(
        of relationship: StoredRelationship, of object: ObjectKey
    ) throws(SQLError) -> [ObjectKey] {
        var objects: [ObjectKey] = []
        for key in try context.destinations(of: object, relationship) {
            objects.append(try context.object(relationship.destinationNumber, key))
        }
        return objects
    }

    // MARK: - Merge policies

    private mutating func resolve(
        _ state: State, _ object: ObjectKey, _ expectation: Expectation, _ values: PlannedValues,
        _ policy: MergePolicy, at index: Int
    ) throws(SQLError) -> PlannedChange? {
        if state.version == nil {
            guard policy == .storeWins || policy == .rollback else {
                context.add(deletedError(object, expectation))
                return nil
            }
            merged.append(index)
            return nil
        }
        var mergedValues = values
        switch policy {
        case .error:
            context.add(try conflictError(state, object, expectation, values))
            return nil
        case .rollback:
            merged.append(index)
            return nil
        case .callerWins: break
        case .storeWins:
            mergedValues.attributes.removeAll { state.attributes.contains($0.attribute) }
            mergedValues.assignments.removeAll { state.relationships.contains($0.relationship) }
            mergedValues.edits.removeAll { state.relationships.contains($0.relationship) }
        case .overwrite: mergedValues.overwrite(expectation)
        }
        merged.append(index)
        return .update(object, expectation, mergedValues)
    }

    /// Returns whether an object is deleted although it is not as the caller read it.
    private mutating func deletes(
        _ object: ObjectKey, _ state: State, _ expectation: Expectation, _ policy: MergePolicy,
        at index: Int
    ) throws(SQLError) -> Bool {
        if policy == .error {
            context.add(
                try state.version == nil
                    ? deletedError(object, expectation)
                    : conflictError(state, object, expectation, PlannedValues()))
            return false
        }
        merged.append(index)
        return state.version != nil && (policy == .callerWins || policy == .overwrite)
    }

    // MARK: - Errors

    private func deletedError(_ object: ObjectKey, _ expectation: Expectation) -> LarderError {
        let error = context.notFound(object)
        let conflict = MergeConflict(
            storedVersion: 0, expectedVersion: expectation.version, properties: [])
        return LarderError(
            ChangeViolation(
                error.code, error.message,
                entityName: context.schema.entities[object.entity].name, uri: error.uri,
                rule: .version, conflict: conflict))
    }

    private mutating func conflictError(
        _ state: State, _ object: ObjectKey, _ expectation: Expectation, _ values: PlannedValues
    ) throws(SQLError) -> LarderError {
        let uri = context.uri(of: object)
        let version = state.version ?? 0
        let entity = context.schema.entities[object.entity]
        let message: String
        if let expected = expectation.version {
            message = "\(uri) has version \(version), not \(expected)"
        } else {
            let names =
                state.attributes.sorted().map { entity.attributes[$0].attribute.name }
                + state.relationships.sorted().map {
                    context.schema.relationships[$0].relationship.name
                }
            let shown = names.prefix(5).joined(separator: ", ")
            let others = names.count > 5 ? " and \(names.count - 5) more" : ""
            message = "\(uri) has other values of \(shown)\(others) than the change is based on"
        }
        let conflict = MergeConflict(
            storedVersion: version, expectedVersion: expectation.version,
            properties: try snapshot(object, expectation, values))
        return LarderError(
            ChangeViolation(
                .versionConflict, message, entityName: entity.name, uri: uri,
                rule: .version, conflict: conflict),
            hint: "read it again, and repeat the change")
    }

    /// The properties that the change names: the base values, the stored values and the new values.
    private mutating func snapshot(
        _ object: ObjectKey, _ expectation: Expectation, _ values: PlannedValues
    ) throws(SQLError) -> [MergeConflict.Property] {
        let entity = context.schema.entities[object.entity]
        let bases = Dictionary(
            expectation.attributes.map { ($0.attribute, $0.value) }, uniquingKeysWith: { $1 })
        let given = Dictionary(
            values.attributes.map { ($0.attribute, $0.value) }, uniquingKeysWith: { $1 })
        var properties: [MergeConflict.Property] = []
        for number in Set(bases.keys).union(given.keys).sorted() {
            let attribute = entity.attributes[number].attribute
            let stored = try storedValue(of: number, of: object)
            let bindings = [bases[number], stored, given[number]]
            snapshotBytesLeft -= bindings.reduce(0) { $0 + ($1?.byteCount ?? 0) }
            guard snapshotBytesLeft >= 0, let value = stored.value(of: attribute.type)
            else { return properties }
            properties.append(
                MergeConflict.Property(
                    name: attribute.name, base: bases[number]?.value(of: attribute.type),
                    stored: value, given: given[number]?.value(of: attribute.type)))
        }
        return properties + (try linkSnapshot(object, expectation, values))
    }

    private mutating func linkSnapshot(
        _ object: ObjectKey, _ expectation: Expectation, _ values: PlannedValues
    ) throws(SQLError) -> [MergeConflict.Property] {
        let bases = Dictionary(
            expectation.relationships.map { ($0.relationship, $0.targets) },
            uniquingKeysWith: { $1 })
        let given = Dictionary(
            values.assignments.map { ($0.relationship, $0.targets) }, uniquingKeysWith: { $1 })
        var properties: [MergeConflict.Property] = []
        for number in Set(bases.keys).union(given.keys).sorted() {
            let relationship = context.schema.relationships[number]
            let stored = try storedObjects(of: relationship, of: object)
            let count = stored.count + (bases[number]?.count ?? 0) + (given[number]?.count ?? 0)
            // An identifier has a store, an entity's name and a key.
            snapshotBytesLeft -= count * (32 + relationship.relationship.destination.utf8.count)
            guard snapshotBytesLeft >= 0 else { return properties }
            // Objects that the set inserts have no identifiers once it has failed.
            let areStored = given[number]?.allSatisfy { $0.insertedBy == nil } ?? false
            properties.append(
                MergeConflict.Property(
                    name: relationship.relationship.name,
                    base: bases[number].map { value($0.map(\.object), relationship) },
                    stored: value(stored, relationship),
                    given: areStored
                        ? given[number].map { value($0.map(\.object), relationship) } : nil))
        }
        return properties
    }

    private func value(_ objects: [ObjectKey], _ relationship: StoredRelationship) -> Value {
        let identifiers = objects.map { context.identifier(of: $0) }
        if relationship.relationship.isToMany { return .objects(identifiers) }
        return identifiers.first.map { .object($0) } ?? .null
    }
}

extension MergeConflict {
    /// The maximum total size of the snapshots in one error.
    static let snapshotBytesMax = 1 << 20
}

extension PlannedValues {
    /// Adds the base values of properties that the change does not set itself.
    fileprivate mutating func overwrite(_ expectation: Expectation) {
        let given = Set(attributes.map(\.attribute))
        attributes += expectation.attributes.filter { !given.contains($0.attribute) }
        attributes.sort { $0.attribute < $1.attribute }
        // Both sides of a link from the object to itself may be there, one of them in the base
        // only. The change's own assignments come last and take precedence.
        let assigned = Set(assignments.map(\.relationship))
        let base = expectation.relationships.filter { !assigned.contains($0.relationship) }
        assignments = base.map(Assignment.init) + assignments
    }
}
