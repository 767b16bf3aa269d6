import FoundationEssentials
import LarderModel

/// Turns a change set into a planned one, without looking into the store.
///
/// It finds every fault that the set has by itself: names that are not in the schema, values of a
/// wrong type or outside of their bounds, temporary identifiers that do not fit together. With
/// faults of single values the plan is still given, so that those that only the store knows are
/// found too.
struct ChangeSetCheck {
    let schema: WritingSchema
    let store: UUID
    let values: ValueCheck
    let planner: QueryPlanner

    struct Insertion {
        let object: ObjectKey
        let change: Int
    }

    private var lastKeys: [Int64]
    /// The first insert with the caller's name of its object, and the others by theirs: most sets
    /// have one, and a dictionary costs as much as half of its check.
    private var firstInsertion: (name: String, Insertion)?
    private var otherInsertions: [String: Insertion] = [:]
    /// The object that each change is about; nil where that is a fault.
    private var subjects: [ObjectKey?] = []
    private var updated = ObjectSet()
    private var deleted = ObjectSet()
    /// The entity that was looked up last: changes of one entity often come together.
    private var lastEntity: (name: String, number: Int)?
    private var byPredicateCount = 0
    /// Whether a change says how the caller saw its object.
    var hasExpectations = false
    private(set) var faults = ChangeFaults()
    /// Whether single values are at most what is wrong, so that what else the set says has meaning.
    private var isCoherent = true

    /// - Parameter lastKeys: The last key of each entity; inserts take those that follow.
    init(
        _ schema: WritingSchema, store: UUID, values: ValueCheck, planner: QueryPlanner,
        lastKeys: [Int64]
    ) {
        self.schema = schema
        self.store = store
        self.values = values
        self.planner = planner
        self.lastKeys = lastKeys
    }

    mutating func plan(_ set: ChangeSet) throws(LarderError) -> PlannedChangeSet {
        guard set.changes.count <= Limits.changesMax else {
            throw LarderError(
                .resourceExhausted,
                "a change set holds at most \(Limits.changesMax) changes")
        }
        guard set.author.utf8.count <= Limits.authorBytesMax else {
            throw LarderError(
                .resourceExhausted,
                "the author of a change set takes at most \(Limits.authorBytesMax) bytes")
        }
        // All of them first, so that a reference to a later insert has its key.
        try noteSubjects(of: set.changes)
        var planned: [PlannedChange?] = []
        planned.reserveCapacity(set.changes.count)
        for (place, change) in set.changes.enumerated() where !faults.isFull {
            planned.append(nil)
            if change.identifier == nil {
                attempt(place) { check throws(LarderError) in
                    planned[place] = try check.plannedByPredicate(change, place)
                }
            }
            guard let subject = subjects[place] else { continue }
            attempt(place) { check throws(LarderError) in
                try check.noteUse(of: subject, by: change)
                planned[place] = check.planned(change, subject, place, set)
            }
        }
        if !isCoherent, let error = faults.error(changeCount: set.changes.count) { throw error }
        return PlannedChangeSet(
            changes: planned, lastKeys: lastKeys, onUniqueConflict: set.onUniqueConflict,
            mergePolicy: set.mergePolicy, faults: faults,
            hasChangesByPredicate: byPredicateCount > 0, hasExpectations: hasExpectations)
    }

    private mutating func noteSubjects(of changes: [Change]) throws(LarderError) {
        subjects.reserveCapacity(changes.count)
        for (place, change) in changes.enumerated() {
            attempt(place) { check throws(LarderError) in
                check.subjects.append(nil)
                guard let identifier = change.identifier else {
                    check.byPredicateCount += 1
                    return
                }
                check.subjects[place] = try check.subject(of: change, identifier, at: place)
            }
        }
        guard byPredicateCount <= Limits.changesByPredicateMax else {
            throw LarderError(
                .resourceExhausted,
                "a change set holds at most \(Limits.changesByPredicateMax) changes by predicate")
        }
    }

    /// - Parameter isOfValue: Whether a fault is one of a single value alone.
    mutating func attempt(
        _ place: Int, isOfValue: Bool = false,
        _ body: (inout ChangeSetCheck) throws(LarderError) -> Void
    ) {
        do throws(LarderError) {
            try body(&self)
        } catch {
            faults.add(error, change: place)
            if !isOfValue { isCoherent = false }
        }
    }
}

// MARK: - Which object a change is about

extension ChangeSetCheck {
    private mutating func subject(
        of change: Change, _ identifier: PersistentIdentifier, at place: Int
    ) throws(LarderError) -> ObjectKey {
        let entity = try entityNumber(identifier.entityName)
        guard case .insert = change else {
            return ObjectKey(entity: entity, key: try storedKey(of: identifier, change))
        }
        guard case .temporary(let name) = identifier.key else {
            throw LarderError(
                .invalidChangeSet, "\(identifier.uriRepresentation) cannot be inserted again",
                hint: "an insert takes a temporary identifier", uri: identifier.uriRepresentation)
        }
        if schema.entities[entity].isAbstract,
            let refusal = Self.refusal(ofInsertsInto: schema.entities[entity].entity)
        {
            throw refusal
        }
        guard insertion(named: name) == nil else {
            throw LarderError(
                .invalidChangeSet,
                "the temporary identifier \(identifier.uriRepresentation) is inserted twice")
        }
        let root = schema.entities[entity].rootNumber
        let (key, overflow) = lastKeys[root].addingReportingOverflow(1)
        guard !overflow else {
            throw LarderError(.storageFull, "\(identifier.entityName) has no keys left")
        }
        lastKeys[root] = key
        let object = ObjectKey(entity: entity, key: key)
        let insertion = Insertion(object: object, change: place)
        if firstInsertion == nil {
            firstInsertion = (name, insertion)
        } else {
            otherInsertions[name] = insertion
        }
        return object
    }

    /// What the set inserts under a temporary name.
    func insertion(named name: String) -> Insertion? {
        if let firstInsertion, firstInsertion.name == name { return firstInsertion.1 }
        return otherInsertions.isEmpty ? nil : otherInsertions[name]
    }

    /// nil where the entity may have objects of its own.
    static func refusal(ofInsertsInto entity: Entity) -> LarderError? {
        guard entity.isAbstract else { return nil }
        return LarderError(
            ChangeFault(
                .invalidChangeSet, "\(entity.name) is abstract and has no objects of its own",
                entityName: entity.name, rule: .abstract),
            hint: "insert an object of a sub-entity")
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

    func checkStore(of identifier: PersistentIdentifier) throws(LarderError) {
        guard identifier.store == store else {
            throw LarderError(
                .foreignIdentifier,
                "\(identifier.uriRepresentation) belongs to another store",
                uri: identifier.uriRepresentation)
        }
    }

    mutating func entityNumber(_ name: String) throws(LarderError) -> Int {
        if let lastEntity, lastEntity.name == name { return lastEntity.number }
        guard let number = schema.number(of: name) else {
            throw LarderError(.unknownEntity, "there is no entity \(name)")
        }
        lastEntity = (name, number)
        return number
    }

    /// Refuses what the order of a set's changes leaves without meaning.
    private mutating func noteUse(
        of subject: ObjectKey, by change: Change
    ) throws(LarderError) {
        // Only a fault needs it, and inserts are many.
        var uri: String { change.identifier?.uriRepresentation ?? "" }
        switch change {
        case .insert, .updateAll, .deleteAll: return
        case .update:
            guard !deleted.contains(subject) else {
                throw LarderError(
                    .invalidChangeSet, "\(uri) is updated after it is deleted", uri: uri)
            }
            guard updated.insert(subject) else {
                throw LarderError(
                    .invalidChangeSet, "\(uri) is updated twice",
                    hint: "put all its values into one update", uri: uri)
            }
        case .delete: deleted.insert(subject)
        }
    }
}
