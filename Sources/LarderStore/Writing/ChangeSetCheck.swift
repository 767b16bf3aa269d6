import FoundationEssentials
import LarderModel

/// Turns a change set into a planned one, without looking into the store.
///
/// It finds every fault that the set has by itself: names that are not in the schema, values of a
/// wrong type or outside of their bounds, temporary identifiers that do not fit together.
struct ChangeSetCheck {
    let schema: WritingSchema
    let store: UUID
    let values: ValueCheck

    private struct Insertion {
        let object: ObjectKey
        let change: Int
    }

    private var lastKeys: [Int64]
    /// By the caller's name.
    private var insertions: [String: Insertion] = [:]
    /// The object that each change is about; nil where that is a fault.
    private var subjects: [ObjectKey?] = []
    private var updated: Set<ObjectKey> = []
    private var deleted: Set<ObjectKey> = []
    private var faults = ChangeFaults()

    /// - Parameter lastKeys: The last key of each entity; inserts take those that follow.
    init(_ schema: WritingSchema, store: UUID, values: ValueCheck, lastKeys: [Int64]) {
        self.schema = schema
        self.store = store
        self.values = values
        self.lastKeys = lastKeys
    }

    mutating func plan(_ set: ChangeSet) throws(LarderError) -> PlannedChangeSet {
        guard set.changes.count <= Limits.changesMax else {
            throw LarderError(
                .resourceExhausted,
                "a change set holds at most \(Limits.changesMax) changes")
        }
        // All of them first, so that a reference to a later insert has its key.
        for (place, change) in set.changes.enumerated() {
            attempt(place) { check throws(LarderError) in
                check.subjects.append(nil)
                check.subjects[place] = try check.subject(of: change, at: place)
            }
        }
        var planned: [PlannedChange] = []
        planned.reserveCapacity(set.changes.count)
        for (place, change) in set.changes.enumerated() where !faults.isFull {
            guard let subject = subjects[place] else { continue }
            attempt(place) { check throws(LarderError) in
                try check.noteUse(of: subject, by: change)
                planned.append(check.planned(change, subject, place))
            }
        }
        if let error = faults.error(changeCount: set.changes.count) { throw error }
        return PlannedChangeSet(changes: planned, lastKeys: lastKeys)
    }

    private mutating func attempt(
        _ place: Int, _ body: (inout ChangeSetCheck) throws(LarderError) -> Void
    ) {
        do throws(LarderError) {
            try body(&self)
        } catch {
            faults.add(error, change: place)
        }
    }
}

// MARK: - Which object a change is about

extension ChangeSetCheck {
    private mutating func subject(
        of change: Change, at place: Int
    ) throws(LarderError) -> ObjectKey {
        let identifier = change.identifier
        let entity = try entityNumber(identifier.entityName)
        guard case .insert = change else {
            return ObjectKey(entity: entity, key: try storedKey(of: identifier, change))
        }
        guard case .temporary(let name) = identifier.key else {
            throw LarderError(
                .invalidChangeSet, "\(identifier.uriRepresentation) cannot be inserted again",
                hint: "an insert takes a temporary identifier", uri: identifier.uriRepresentation)
        }
        guard insertions[name] == nil else {
            throw LarderError(
                .invalidChangeSet,
                "the temporary identifier \(identifier.uriRepresentation) is inserted twice")
        }
        let (key, overflow) = lastKeys[entity].addingReportingOverflow(1)
        guard !overflow else {
            throw LarderError(.storageFull, "\(identifier.entityName) has no keys left")
        }
        lastKeys[entity] = key
        let object = ObjectKey(entity: entity, key: key)
        insertions[name] = Insertion(object: object, change: place)
        return object
    }

    private func storedKey(
        of identifier: PersistentIdentifier, _ change: Change
    ) throws(LarderError) -> Int64 {
        guard let key = identifier.permanentKey else {
            let verb = if case .delete = change { "deleted" } else { "updated" }
            throw LarderError(
                .invalidChangeSet,
                "\(identifier.uriRepresentation) is temporary and cannot be \(verb)",
                hint: "leave it out, or put its values into its insert")
        }
        try checkStore(of: identifier)
        return key
    }

    private func checkStore(of identifier: PersistentIdentifier) throws(LarderError) {
        guard identifier.store == store else {
            throw LarderError(
                .foreignIdentifier,
                "\(identifier.uriRepresentation) belongs to another store",
                uri: identifier.uriRepresentation)
        }
    }

    private func entityNumber(_ name: String) throws(LarderError) -> Int {
        guard let number = schema.number(of: name) else {
            throw LarderError(.unknownEntity, "there is no entity \(name)")
        }
        return number
    }

    /// Refuses what the order of a set's changes leaves without meaning.
    private mutating func noteUse(
        of subject: ObjectKey, by change: Change
    ) throws(LarderError) {
        let uri = change.identifier.uriRepresentation
        switch change {
        case .insert: return
        case .update:
            guard !deleted.contains(subject) else {
                throw LarderError(
                    .invalidChangeSet, "\(uri) is updated after it is deleted", uri: uri)
            }
            guard updated.insert(subject).inserted else {
                throw LarderError(
                    .invalidChangeSet, "\(uri) is updated twice",
                    hint: "put all its values into one update", uri: uri)
            }
        case .delete: deleted.insert(subject)
        }
    }
}

// MARK: - What a change says

extension ChangeSetCheck {
    private mutating func planned(
        _ change: Change, _ subject: ObjectKey, _ place: Int
    ) -> PlannedChange {
        switch change {
        case .delete(_, let ifVersion): return .delete(subject, ifVersion: ifVersion)
        case .insert(_, let given):
            let (named, assignments) = properties(given, subject, place)
            var row = [SQLBinding?](
                repeating: nil, count: schema.entities[subject.entity].attributes.count)
            for (attribute, value) in named { row[attribute] = value }
            let attributes = schema.entities[subject.entity].attributes
            for (attribute, stored) in attributes.enumerated()
            where row[attribute] == nil && given[stored.attribute.name] == nil {
                attempt(place) { check throws(LarderError) in
                    row[attribute] = try check.values.storedDefault(stored)
                }
            }
            return .insert(subject, values: row.map { $0 ?? .null }, assignments: assignments)
        case .update(_, let ifVersion, let given):
            let (named, assignments) = properties(given, subject, place)
            return .update(
                subject, ifVersion: ifVersion, values: named, assignments: assignments)
        }
    }

    /// The values by property, in the order of the schema so that equal sets do equal things.
    private mutating func properties(
        _ given: [String: Value], _ subject: ObjectKey, _ place: Int
    ) -> (values: [(attribute: Int, value: SQLBinding)], assignments: [Assignment]) {
        let entity = schema.entities[subject.entity]
        var values: [(attribute: Int, value: SQLBinding)] = []
        var assignments: [Assignment] = []
        for name in given.keys.sorted() {
            guard let value = given[name] else { continue }
            attempt(place) { check throws(LarderError) in
                switch entity.places[name] {
                case .attribute(let number):
                    let stored = try check.values.stored(value, entity.attributes[number])
                    values.append((attribute: number, value: stored))
                case .relationship(let number):
                    assignments.append(
                        Assignment(relationship: number, targets: try check.targets(value, number)))
                case nil:
                    throw LarderError(
                        .unknownProperty, "\(entity.entity.name) has no property \(name)")
                }
            }
        }
        values.sort { $0.attribute < $1.attribute }
        assignments.sort { $0.relationship < $1.relationship }
        return (values, assignments)
    }

    private func targets(_ value: Value, _ number: Int) throws(LarderError) -> [Assignment.Target] {
        let stored = schema.relationships[number]
        let relationship = stored.relationship
        let name = stored.qualifiedName
        switch value {
        case .objects(let identifiers) where relationship.isToMany:
            var targets: [Assignment.Target] = []
            var known: Set<Int64> = []
            for identifier in identifiers {
                let target = try self.target(identifier, stored)
                guard known.insert(target.key).inserted else {
                    throw LarderError(
                        .invalidChangeSet,
                        "\(name) names \(identifier.uriRepresentation) twice")
                }
                targets.append(target)
            }
            return targets
        case .object(let identifier) where !relationship.isToMany:
            return [try target(identifier, stored)]
        case .null where !relationship.isToMany:
            guard relationship.isOptional else {
                throw LarderError(.missingValue, "\(name) is required")
            }
            return []
        default:
            let wanted =
                relationship.isToMany
                ? "a list of \(relationship.destination) objects"
                : "an object of \(relationship.destination)"
            throw LarderError(.wrongType, "\(name) takes \(wanted), not \(value.kindWithArticle)")
        }
    }

    private func target(
        _ identifier: PersistentIdentifier, _ stored: StoredRelationship
    ) throws(LarderError) -> Assignment.Target {
        let entity = try entityNumber(identifier.entityName)
        guard entity == stored.destinationNumber else {
            throw LarderError(
                .wrongType,
                "\(stored.qualifiedName) takes an object of \(stored.relationship.destination), "
                    + "not of \(identifier.entityName)")
        }
        switch identifier.key {
        case .permanent(let key):
            try checkStore(of: identifier)
            return Assignment.Target(key: key, insertedBy: nil)
        case .temporary(let name):
            guard let insertion = insertions[name] else {
                throw LarderError(
                    .invalidChangeSet,
                    "\(stored.qualifiedName) names \(identifier.uriRepresentation), "
                        + "which the set does not insert")
            }
            guard insertion.object.entity == entity else {
                throw LarderError(
                    .invalidChangeSet,
                    "\(stored.qualifiedName) names \(identifier.uriRepresentation), which the set "
                        + "inserts as \(schema.entities[insertion.object.entity].entity.name)")
            }
            return Assignment.Target(key: insertion.object.key, insertedBy: insertion.change)
        }
    }
}
