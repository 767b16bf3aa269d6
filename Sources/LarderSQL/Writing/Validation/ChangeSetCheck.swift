import FoundationEssentials
import LarderModel

/// Validates a change set and plans it, without reading the store.
///
/// It finds every error that the set has in itself: names that are not in the schema, values of a
/// wrong type or outside of their bounds, inconsistent temporary identifiers. If there are only
/// errors of single values, the set is still planned, so that errors that depend on the store are
/// found too.
package struct ChangeSetCheck {
    let schema: WritingSchema
    let store: UUID
    let values: ValueCheck
    let planner: QueryPlanner
    let conversions: Conversions
    private var interruption: Interruption

    struct Insertion {
        let object: ObjectKey
        let change: Int
    }

    package private(set) var lastKeys: [Int64]
    /// The first insert with its temporary identifier, and the other inserts by theirs. Most sets
    /// have one insert, and a dictionary costs half as much as the whole check.
    private var firstInsertion: (name: String, Insertion)?
    private var otherInsertions: [String: Insertion] = [:]
    /// The object of each change; nil for a bulk change and for an error.
    private var subjects: [ObjectKey?] = []
    private var updated = ObjectSet()
    private var deleted = ObjectSet()
    /// The entity that was looked up last, since changes of one entity often follow each other.
    private var lastEntity: (name: String, number: Int)?
    private var bulkCount = 0
    /// Whether a change has an expected version or base values.
    var hasExpectations = false
    package private(set) var errors = ChangeErrors()
    /// False after an error that is not one of a single value. Then the other changes cannot be
    /// interpreted.
    private var isCoherent = true

    /// - Parameter lastKeys: The last key of each entity; inserts take the following keys.
    package init(
        _ schema: WritingSchema, store: UUID, values: ValueCheck, planner: QueryPlanner,
        lastKeys: [Int64], _ conversions: Conversions
    ) {
        self.schema = schema
        self.store = store
        self.values = values
        self.planner = planner
        self.lastKeys = lastKeys
        self.conversions = conversions
        interruption = conversions.interruption
    }

    package mutating func plan(_ set: ChangeSet) throws(LarderError) -> PlannedChangeSet {
        guard set.changes.count <= Limits.changesMax else {
            throw LarderError(
                .resourceExhausted,
                "a change set holds at most \(Limits.changesMax) changes")
        }
        try checkAuthor(set.author)
        let conditions = try plannedConditions(set.conditions)
        // All subjects first, so that a reference to a later insert has its key.
        try findSubjects(of: set.changes)
        let planned = try plannedChanges(set, from: 0)
        return PlannedChangeSet(
            conditions: conditions, changes: planned, lastKeys: lastKeys,
            onUniqueConflict: set.onUniqueConflict, mergePolicy: set.mergePolicy, errors: errors,
            runsQueries: bulkCount > 0 || !conditions.isEmpty, hasExpectations: hasExpectations)
    }

    func checkAuthor(_ author: String) throws(LarderError) {
        guard author.utf8.count <= Limits.authorBytesMax else {
            throw LarderError(
                .resourceExhausted,
                "the author of a change set takes at most \(Limits.authorBytesMax) bytes")
        }
    }

    /// Plans the changes of a set, or of the part of it that begins with this index. Their subjects
    /// have been found.
    ///
    /// - Throws: all errors so far, unless they are those of single values only.
    mutating func plannedChanges(
        _ set: ChangeSet, from start: Int
    ) throws(LarderError) -> [PlannedChange?] {
        var planned: [PlannedChange?] = []
        planned.reserveCapacity(set.changes.count)
        for (offset, change) in set.changes.enumerated() where !errors.isFull {
            let index = start + offset
            try checkBudget()
            planned.append(nil)
            if change.identifier == nil {
                attempt(index) { check throws(LarderError) in
                    planned[offset] = try check.plannedBulkChange(change, index)
                }
            }
            guard let subject = subjects[index] else { continue }
            attempt(index) { check throws(LarderError) in
                try check.checkOrder(of: change, subject)
                planned[offset] = check.planned(change, subject, index, set)
            }
        }
        try conversions.check()
        if !isCoherent, let error = errors.error(changeCount: subjects.count) { throw error }
        return planned
    }

    /// - Throws: an error without a meaning if the budget is used up.
    private mutating func checkBudget() throws(LarderError) {
        if interruption.isDue() { throw Conversions.stopped }
    }

    /// Finds the objects of changes that follow those whose objects were found before.
    mutating func findSubjects(of changes: [Change]) throws(LarderError) {
        let start = subjects.count
        // Growing by parts of a set would copy all of them for each part.
        if start == 0 { subjects.reserveCapacity(changes.count) }
        for (offset, change) in changes.enumerated() {
            let index = start + offset
            try checkBudget()
            attempt(index) { check throws(LarderError) in
                check.subjects.append(nil)
                guard let identifier = change.identifier else {
                    check.bulkCount += 1
                    return
                }
                check.subjects[index] = try check.subject(of: change, identifier, at: index)
            }
        }
        guard bulkCount <= Limits.bulkChangesMax else {
            throw LarderError(
                .resourceExhausted,
                "a change set has at most \(Limits.bulkChangesMax) bulk updates and deletes"
            )
        }
    }

    /// Runs a part of the check, and adds its error to those of the change or the condition with
    /// this index.
    ///
    /// - Parameter isOfValue: Whether an error concerns a single value only.
    mutating func attempt(
        _ index: Int?, condition: Int? = nil, isOfValue: Bool = false,
        _ body: (inout ChangeSetCheck) throws(LarderError) -> Void
    ) {
        do throws(LarderError) {
            try body(&self)
        } catch {
            errors.add(error, change: index, condition: condition)
            if !isOfValue { isCoherent = false }
        }
    }
}

// MARK: - The object of a change

extension ChangeSetCheck {
    private mutating func subject(
        of change: Change, _ identifier: PersistentIdentifier, at index: Int
    ) throws(LarderError) -> ObjectKey {
        guard case .insert = change else {
            let entity = try entityNumber(identifier.entityName, mayBeFormer: true)
            return ObjectKey(entity: entity, key: try storedKey(of: identifier, change))
        }
        let entity = try entityNumber(identifier.entityName)
        guard case .temporary(let name) = identifier.key else {
            throw LarderError(
                .invalidChangeSet, "\(identifier.uriRepresentation) cannot be inserted again",
                hint: "an insert takes a temporary identifier", uri: identifier.uriRepresentation)
        }
        if schema.entities[entity].isAbstract,
            let error = Self.insertError(schema.entities[entity].entity)
        {
            throw error
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
        let insertion = Insertion(object: object, change: index)
        if firstInsertion == nil {
            firstInsertion = (name, insertion)
        } else {
            otherInsertions[name] = insertion
        }
        return object
    }

    /// The insert of a temporary identifier.
    func insertion(named name: String) -> Insertion? {
        if let firstInsertion, firstInsertion.name == name { return firstInsertion.1 }
        return otherInsertions.isEmpty ? nil : otherInsertions[name]
    }

    /// The error of inserting objects of an entity; nil if it may have objects of its own.
    package static func insertError(_ entity: Entity) -> LarderError? {
        guard entity.isAbstract else { return nil }
        return LarderError(
            ChangeViolation(
                .invalidChangeSet, "\(entity.name) is abstract and has no objects of its own",
                entityName: entity.name, rule: .abstract),
            hint: "insert an object of a subentity")
    }

    private func storedKey(
        of identifier: PersistentIdentifier, _ change: Change
    ) throws(LarderError) -> Int64 {
        guard let key = identifier.permanentKey else {
            let verb = if case .delete = change { "deleted" } else { "updated" }
            throw LarderError(
                .invalidChangeSet,
                "\(identifier.uriRepresentation) is temporary and cannot be \(verb)",
                hint: "leave it out, or set its values in its insert")
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

    /// - Parameter mayBeFormer: Whether the name is that of an object's identifier, which may be
    ///   older than the schema.
    mutating func entityNumber(
        _ name: String, mayBeFormer: Bool = false
    ) throws(LarderError) -> Int {
        if let lastEntity, lastEntity.name == name { return lastEntity.number }
        guard let number = schema.number(of: name) else {
            if mayBeFormer, let number = schema.number(ofFormer: name) { return number }
            throw LarderError(.unknownEntity, "there is no entity \(name)")
        }
        lastEntity = (name, number)
        return number
    }

    /// Rejects an update after a delete, and a second update of the same object.
    private mutating func checkOrder(
        of change: Change, _ subject: ObjectKey
    ) throws(LarderError) {
        // Computed only for an error.
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
