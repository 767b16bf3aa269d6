import CSQLite
import FoundationEssentials
import LarderModel

/// Carries out one planned change set within a transaction that its caller began, and undoes if
/// there are faults.
///
/// Conflicts with what others have written meanwhile are looked for first; then changes happen in
/// the order given. What the set must not end in (values that two objects share, objects without
/// one they need, too few or too many in a list, denied deletes) is looked at when it is done.
/// Faults are collected, so that all are reported; what SQLite itself fails at is thrown.
///
/// Invariants: the two sides of a relationship are one stored link, so they agree at any moment.
/// An object's version grows by one in a save that updates it by name or changes one of its to-one
/// relationships from either side, however often; a to-many list that changes through its inverse
/// leaves the version of its object alone.
final class ChangeSetRun {
    let schema: WritingSchema
    let store: UUID
    let statements: StatementCache
    let values: ValueCheck
    /// The last key of each entity before the set: greater ones are its own inserts.
    let lastKeys: [Int64]
    /// The number that the set has in the history.
    let transaction: Int64
    /// When the set is saved, in seconds since 2001.
    let time: Double
    /// Where the functions of queries and derivations report their errors.
    let functionFaults: FunctionFaults
    /// Past its deadline the set is given up, if it has changes by predicate.
    let budget: ReadBudget?

    var faults = ChangeFaults()
    /// The change that is being carried out, for its faults.
    var change: Int?
    var deleted = ObjectSet()
    var changes: ObjectChanges
    /// To-one relationships that may not be nil and may have become so, and why.
    var obligations: [ObjectRelationship: Obligation] = [:]
    /// To-many relationships whose number is bound and has changed, and the change that did.
    var counts: [ObjectRelationship: Int?] = [:]
    var denials: [Denial] = []
    /// Objects that had another's unique values when they took them, and the change that did.
    var suspects: [Twin: Int?] = [:]
    /// Values that wait until the objects that have them give them up, and whose they are to be.
    var aside: [Twin: ValueAside] = [:]
    var asideByValue: [ValueAside.Place: ObjectKey] = [:]
    /// Where inserts became updates: the key that an insert was to have, and the object.
    var redirects: [ObjectKey: ObjectKey] = [:]
    /// The entities of objects that share a table with others, as far as they were asked for: an
    /// object by its key in that table.
    var kinds: [ObjectKey: Int] = [:]
    /// What the snapshots of conflicts may still take.
    var snapshotBytesLeft = MergeConflict.snapshotBytesMax
    /// How many objects edits may still count in lists.
    var countedObjectsLeft = Int64(Limits.countedObjectsMax)
    var result = SaveResult()
    var isUpserting = false
    private(set) var bumped = ObjectSet()
    /// What waits for the insert at a place.
    private var waiting: [Int: [(ObjectKey, Postponed)]] = [:]
    /// Updates that a merge policy left out, by their place in ``SaveResult/updatedVersions``.
    private var leftOut: [Int: ObjectKey] = [:]

    private enum Postponed {
        case assignment(Assignment)
        case edits([PlannedEdit])
    }

    init(
        _ schema: WritingSchema, store: UUID, statements: StatementCache, values: ValueCheck,
        lastKeys: [Int64], transaction: Int64, time: Double, functionFaults: FunctionFaults,
        budget: ReadBudget?
    ) {
        self.schema = schema
        self.store = store
        self.statements = statements
        self.values = values
        self.lastKeys = lastKeys
        self.transaction = transaction
        self.time = time
        self.functionFaults = functionFaults
        self.budget = budget
        changes = ObjectChanges(
            lastKeys: schema.hasInheritance
                ? schema.entities.map { lastKeys[$0.rootNumber] } : lastKeys)
    }

    func run(_ set: PlannedChangeSet) throws(SQLiteError) -> Result<SaveResult, LarderError> {
        faults = set.faults
        isUpserting = set.onUniqueConflict == .upsert
        if schema.hasInheritance { noteKinds(ofInsertsIn: set) }
        let resolved = try resolveConflicts(of: set)
        for (place, planned) in resolved.enumerated() where !faults.isFull {
            change = place
            switch planned {
            case .insert(let insert): try self.insert(insert, at: place)
            case .update(let object, _, let values): try update(object, values)
            case .delete(let object, _): try delete(object)
            case .updateAll(let selection, let assignments):
                try updateAll(selection, assignments)
            case .deleteAll(let selection): try deleteAll(selection)
            case nil: leaveOut(set.changes[place])
            }
        }
        change = nil
        try checkEnd()
        return faults.error(changeCount: set.changes.count).map { .failure($0) } ?? .success(result)
    }

    func checkEnd() throws(SQLiteError) {
        try checkDenials()
        try checkObligations()
        try checkCounts()
        try checkUniqueness()
        // Values that stood aside are in their rows by now.
        if faults.isEmpty { try derive() }
        for (place, object) in leftOut {
            result.updatedVersions[place] = try version(of: object) ?? 0
        }
    }

    /// Gives the set up once its time is over.
    func checkTime() throws(SQLiteError) {
        guard let deadline = budget?.deadline, ContinuousClock.now >= deadline else { return }
        throw SQLiteError(extendedCode: SQLITE_INTERRUPT, message: "the time is over")
    }

    func fault(_ error: LarderError) {
        faults.add(error, change: change)
    }

    // MARK: - Objects

    func insert(_ insert: PlannedInsert, at place: Int) throws(SQLiteError) {
        switch try isUpserting ? match(of: insert) : .none {
        case .none:
            for error in insert.missing { fault(error) }
            try insertNew(insert)
        case .one(let existing):
            redirects[insert.object] = existing
            result.inserted.append(identifier(of: existing))
            _ = try noteChanges(insert.values.attributes, of: existing)
            try write(insert.values, to: existing, bumpingVersion: noteBump(of: existing))
        case .several(let error):
            fault(error)
            waiting[place] = nil
        }
        for (waiter, postponed) in waiting.removeValue(forKey: place) ?? [] {
            // A delete in between may have taken it along.
            guard !deleted.contains(waiter) else { continue }
            switch postponed {
            case .assignment(let assignment): try assign(assignment, to: waiter)
            case .edits(let edits): try edit(waiter, edits)
            }
        }
    }

    private func insertNew(_ insert: PlannedInsert) throws(SQLiteError) {
        let object = insert.object
        let entity = schema.entities[object.entity]
        let statement = try statements.statement(entity.insertion.one)
        try statement.bind(integer: object.key, at: 1)
        for (attribute, value) in insert.row.enumerated() {
            try statement.bind(
                entity.hasUniqueAttribute
                    ? standingAside(value, attribute, of: object) : value, at: attribute + 2)
        }
        var place = insert.row.count + 2
        func isInRow(_ assignment: Assignment) -> Bool {
            entity.insertedToOnes.contains(assignment.relationship)
                && awaited(by: assignment.targets) == nil
                && assignment.targets.first?.object != object
        }
        for number in entity.insertedToOnes {
            let assignment = insert.values.assignments.first {
                $0.relationship == number && isInRow($0)
            }
            let target = assignment.flatMap { resolved($0).targets.first }
            for binding in try insertedLink(schema.relationships[number], target) {
                try statement.bind(binding, at: place)
                place += 1
            }
            if target == nil { oblige(object, schema.relationships[number], .missing) }
        }
        try statement.run()
        changes.insert(object)
        result.inserted.append(identifier(of: object))
        try noteUnique(object, in: entity.constraints.indices)
        // What other rows hold may still be set by a later change.
        for number in entity.relationshipNumbers where !entity.insertedToOnes.contains(number) {
            oblige(object, schema.relationships[number], .missing)
            noteCount(schema.relationships[number], of: object)
        }
        // The other side of a link to the object itself may be given too, before or after this.
        for assignment in insert.values.assignments where !isInRow(assignment) {
            try assignWhenReady(assignment, to: object)
        }
        try editWhenReady(object, insert.values.edits)
    }

    private func update(_ object: ObjectKey, _ values: PlannedValues) throws(SQLiteError) {
        guard let version = try noteChanges(values.attributes, of: object) else {
            return fault(missing(object))
        }
        let needsBump = noteBump(of: object)
        result.updatedVersions.append(needsBump ? version &+ 1 : version)
        try write(values, to: object, bumpingVersion: needsBump)
    }

    /// Writes values whose changes are noted.
    private func write(
        _ values: PlannedValues, to object: ObjectKey, bumpingVersion: Bool
    ) throws(SQLiteError) {
        let entity = schema.entities[object.entity]
        if !values.attributes.isEmpty {
            let attributes = values.attributes.map(\.attribute)
            let texts = entity.rows[attributes]
            let text = bumpingVersion ? texts.updateBumping : texts.update
            try store(values.attributes, of: object, statements.statement(text))
            if !entity.constraints.isEmpty {
                try noteUnique(object, in: entity.constraints(over: attributes))
            }
        } else if bumpingVersion {
            try statements.statement(entity.bump).run([.integer(object.key)])
        }
        for assignment in values.assignments { try assignWhenReady(assignment, to: object) }
        try editWhenReady(object, values.edits)
    }

    /// - Parameter update: As ``RowTexts/update`` has it.
    func store(
        _ values: [(attribute: Int, value: SQLBinding)], of object: ObjectKey, _ update: Statement
    ) throws(SQLiteError) {
        for (index, (attribute, value)) in values.enumerated() {
            try update.bind(standingAside(value, attribute, of: object), at: index + 1)
        }
        try update.bind(integer: object.key, at: values.count + 1)
        try update.run()
    }

    private func leaveOut(_ change: PlannedChange?) {
        guard case .update(let object, _, _) = change else { return }
        leftOut[result.updatedVersions.count] = object
        result.updatedVersions.append(0)
    }

    func version(of object: ObjectKey) throws(SQLiteError) -> Int64? {
        try integer(schema.entities[object.entity].version, object.key)
    }

    func bump(_ object: ObjectKey) throws(SQLiteError) {
        guard noteBump(of: object) else { return }
        try statements.statement(schema.entities[object.entity].bump).run([.integer(object.key)])
    }

    /// Whether the version has to grow: once in a save, and not for an object that it inserts.
    func noteBump(of object: ObjectKey) -> Bool {
        guard !isInserted(object), bumped.insert(object) else { return false }
        changes.update(object, nil)
        return true
    }

    func isInserted(_ object: ObjectKey) -> Bool { changes.isInserted(object) }

    // MARK: - Assignments

    /// Assigns at once, or after the last insert that the assignment names: until then the object
    /// is not there, and an insert may yet turn out to mean another.
    func assignWhenReady(
        _ assignment: Assignment, to object: ObjectKey
    ) throws(SQLiteError) {
        if let last = awaited(by: assignment.targets) {
            waiting[last, default: []].append((object, .assignment(assignment)))
        } else {
            try assign(assignment, to: object)
        }
    }

    /// Makes all edits of a change at once, or after the last insert that one of them names: their
    /// order means something.
    private func editWhenReady(
        _ object: ObjectKey, _ edits: [PlannedEdit]
    ) throws(SQLiteError) {
        if let last = edits.lazy.compactMap({ self.awaited(by: $0.named) }).max() {
            waiting[last, default: []].append((object, .edits(edits)))
        } else {
            try edit(object, edits)
        }
    }

    /// The last insert, after the change that is being carried out, that makes one of the targets.
    private func awaited(by targets: [Assignment.Target]) -> Int? {
        guard let change, let last = targets.lazy.compactMap(\.insertedBy).max()
        else { return nil }
        return last > change ? last : nil
    }

    /// The values of a to-one's columns in the row that is inserted.
    func insertedLink(
        _ relationship: StoredRelationship, _ target: Assignment.Target?
    ) throws(SQLiteError) -> [SQLBinding] {
        guard case .own(let column) = relationship.storage else { return [] }
        let hasPosition = column.positionColumn != nil
        guard let target, try checkExists(target) else {
            return hasPosition ? [.null, .null] : [.null]
        }
        try noteInverseChange(relationship, of: target.key)
        let key = SQLBinding.integer(target.key)
        guard let order = column.order else { return [key] }
        return [key, .integer(try lastPosition(order, of: target.key))]
    }
}
