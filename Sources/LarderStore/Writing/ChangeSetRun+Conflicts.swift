import LarderModel

// Changes that were based on another state of their object than the store has. They are looked for
// before anything is changed: the caller knows nothing of what the set itself does.
extension ChangeSetRun {
    /// The changes as the merge policy leaves them; nil for one that it leaves out.
    func resolveConflicts(of set: PlannedChangeSet) throws(SQLiteError) -> [PlannedChange?] {
        guard set.hasExpectations else { return set.changes }
        var changes = set.changes
        for (place, planned) in set.changes.enumerated() where !faults.isFull {
            change = place
            switch planned {
            case .update(let object, let expectation, let values) where !expectation.isEmpty:
                let state = try state(of: object, expectation)
                guard !state.isAsExpected else { continue }
                changes[place] = try resolve(
                    state, object, expectation, values, set.mergePolicy, at: place)
            case .delete(let object, let expectation) where !expectation.isEmpty:
                let state = try state(of: object, expectation)
                guard !state.isAsExpected else { continue }
                if try !deletes(object, state, expectation, set.mergePolicy, at: place) {
                    changes[place] = nil as PlannedChange?
                }
            case .insert, .update, .delete, .updateAll, .deleteAll, nil: continue
            }
        }
        return changes
    }

    /// What became of an object since the caller read it.
    private struct State {
        /// nil if it is deleted.
        let version: Int64?
        /// The properties that the caller read otherwise.
        var attributes: Set<Int> = []
        var relationships: Set<Int> = []
        let isAsExpected: Bool
    }

    private func state(
        of object: ObjectKey, _ expectation: Expectation
    ) throws(SQLiteError) -> State {
        guard let version = try version(of: object) else {
            return State(version: nil, isAsExpected: false)
        }
        if version == expectation.version { return State(version: version, isAsExpected: true) }
        var attributes: Set<Int> = []
        for (number, base) in expectation.attributes
        where try stored(object, attribute: number) != base {
            attributes.insert(number)
        }
        var relationships: Set<Int> = []
        for (number, base) in expectation.relationships
        where try !isHeld(base.map(\.object), by: object, schema.relationships[number]) {
            relationships.insert(number)
        }
        return State(
            version: version, attributes: attributes, relationships: relationships,
            isAsExpected: expectation.version == nil && attributes.isEmpty
                && relationships.isEmpty)
    }

    private func isHeld(
        _ base: [ObjectKey], by object: ObjectKey, _ relationship: StoredRelationship
    ) throws(SQLiteError) -> Bool {
        var held: [ObjectKey] = []
        for key in try destinations(of: object, relationship) {
            held.append(try self.object(relationship.destinationNumber, key))
        }
        return relationship.relationship.isOrdered ? held == base : Set(held) == Set(base)
    }

    private func stored(
        _ object: ObjectKey, attribute number: Int
    ) throws(SQLiteError) -> SQLBinding {
        let entity = schema.entities[object.entity]
        let statement = try statements.statement(entity.rows[[number]].read)
        defer { statement.reset() }
        try statement.bind(.integer(object.key), at: 1)
        return try statement.step() ? statement.value(at: 0) : .null
    }

    private func resolve(
        _ state: State, _ object: ObjectKey, _ expectation: Expectation, _ values: PlannedValues,
        _ policy: MergePolicy, at place: Int
    ) throws(SQLiteError) -> PlannedChange? {
        if state.version == nil {
            guard policy == .storeWins || policy == .rollback else {
                faultDeleted(object, expectation)
                return nil
            }
            result.merged.append(place)
            return nil
        }
        var merged = values
        switch policy {
        case .error:
            fault(try conflictError(state, object, expectation, values))
            return nil
        case .rollback:
            result.merged.append(place)
            return nil
        case .callerWins: break
        case .storeWins:
            merged.attributes.removeAll { state.attributes.contains($0.attribute) }
            merged.assignments.removeAll { state.relationships.contains($0.relationship) }
            merged.edits.removeAll { state.relationships.contains($0.relationship) }
        case .overwrite:
            let given = Set(values.attributes.map(\.attribute))
            merged.attributes += expectation.attributes.filter { !given.contains($0.attribute) }
            merged.attributes.sort { $0.attribute < $1.attribute }
            // Both sides of a link to the object itself may be there, one in the base alone.
            let assigned = Set(values.assignments.map(\.relationship))
            let base = expectation.relationships.filter { !assigned.contains($0.relationship) }
            merged.assignments = base.map(Assignment.init) + values.assignments
        }
        result.merged.append(place)
        return .update(object, expectation, merged)
    }

    /// Whether a delete goes on although its object is not as the caller saw it.
    private func deletes(
        _ object: ObjectKey, _ state: State, _ expectation: Expectation, _ policy: MergePolicy,
        at place: Int
    ) throws(SQLiteError) -> Bool {
        if policy == .error {
            if state.version == nil {
                faultDeleted(object, expectation)
            } else {
                fault(try conflictError(state, object, expectation, PlannedValues()))
            }
            return false
        }
        result.merged.append(place)
        return state.version != nil && (policy == .callerWins || policy == .overwrite)
    }

    private func faultDeleted(_ object: ObjectKey, _ expectation: Expectation) {
        let error = missing(object)
        let conflict = MergeConflict(
            storedVersion: 0, expectedVersion: expectation.version, properties: [])
        fault(
            LarderError(
                ChangeFault(
                    error.code, error.message,
                    entityName: schema.entities[object.entity].name, uri: error.uri,
                    rule: .version, conflict: conflict)))
    }
}

// MARK: - The report

extension MergeConflict {
    /// The snapshots of one error hold no more than this.
    static let snapshotBytesMax = 1 << 20
}

extension ChangeSetRun {
    private func conflictError(
        _ state: State, _ object: ObjectKey, _ expectation: Expectation, _ values: PlannedValues
    ) throws(SQLiteError) -> LarderError {
        let uri = uri(of: object)
        let version = state.version ?? 0
        let entity = schema.entities[object.entity]
        let message: String
        if let expected = expectation.version {
            message = "\(uri) has version \(version), not \(expected)"
        } else {
            let names =
                state.attributes.sorted().map { entity.attributes[$0].attribute.name }
                + state.relationships.sorted().map { schema.relationships[$0].relationship.name }
            let shown = names.prefix(5).joined(separator: ", ")
            let others = names.count > 5 ? " and \(names.count - 5) more" : ""
            message = "\(uri) has other values of \(shown)\(others) than the change is based on"
        }
        let conflict = MergeConflict(
            storedVersion: version, expectedVersion: expectation.version,
            properties: try snapshot(object, expectation, values))
        return LarderError(
            ChangeFault(
                .versionConflict, message, entityName: entity.name, uri: uri,
                rule: .version, conflict: conflict),
            hint: "read it again, and repeat the change")
    }

    /// The named properties as the store has them, and as the caller knew and wanted them.
    private func snapshot(
        _ object: ObjectKey, _ expectation: Expectation, _ values: PlannedValues
    ) throws(SQLiteError) -> [MergeConflict.Property] {
        let entity = schema.entities[object.entity]
        let bases = Dictionary(
            expectation.attributes.map { ($0.attribute, $0.value) }, uniquingKeysWith: { $1 })
        let given = Dictionary(
            values.attributes.map { ($0.attribute, $0.value) }, uniquingKeysWith: { $1 })
        var properties: [MergeConflict.Property] = []
        for number in Set(bases.keys).union(given.keys).sorted() {
            let attribute = entity.attributes[number].attribute
            let stored = try stored(object, attribute: number)
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

    private func linkSnapshot(
        _ object: ObjectKey, _ expectation: Expectation, _ values: PlannedValues
    ) throws(SQLiteError) -> [MergeConflict.Property] {
        let bases = Dictionary(
            expectation.relationships.map { ($0.relationship, $0.targets) },
            uniquingKeysWith: { $1 })
        let given = Dictionary(
            values.assignments.map { ($0.relationship, $0.targets) }, uniquingKeysWith: { $1 })
        var properties: [MergeConflict.Property] = []
        for number in Set(bases.keys).union(given.keys).sorted() {
            let relationship = schema.relationships[number]
            var stored: [ObjectKey] = []
            for key in try destinations(of: object, relationship) {
                stored.append(try self.object(relationship.destinationNumber, key))
            }
            let count = stored.count + (bases[number]?.count ?? 0) + (given[number]?.count ?? 0)
            // What an identifier takes: the store, the entity's name, the key.
            snapshotBytesLeft -= count * (32 + relationship.relationship.destination.utf8.count)
            guard snapshotBytesLeft >= 0 else { return properties }
            // What the set inserts has no identifier that would mean anything once it failed.
            let isKnown = given[number]?.allSatisfy { $0.insertedBy == nil } ?? false
            properties.append(
                MergeConflict.Property(
                    name: relationship.relationship.name,
                    base: bases[number].map { value($0.map(\.object), relationship) },
                    stored: value(stored, relationship),
                    given: isKnown
                        ? given[number].map { value($0.map(\.object), relationship) } : nil))
        }
        return properties
    }

    private func value(_ objects: [ObjectKey], _ relationship: StoredRelationship) -> Value {
        let identifiers = objects.map { identifier(of: $0) }
        if relationship.relationship.isToMany { return .objects(identifiers) }
        return identifiers.first.map { .object($0) } ?? .null
    }
}
