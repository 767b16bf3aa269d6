import FoundationEssentials
import LarderModel

/// Carries out one planned change set within a transaction that its caller began, and undoes if
/// there are faults.
///
/// Changes happen in the order given. What only the store can tell (missing objects, versions,
/// uniqueness, objects that would be left without one they need) is collected as faults, so that
/// all are reported; what SQLite itself fails at is thrown.
///
/// Invariants: the two sides of a relationship are one stored link, so they agree at any moment.
/// An object's version grows by one in a save that updates it by name or changes one of its to-one
/// relationships from either side, however often; a to-many list that changes through its inverse
/// leaves the version of its object alone.
final class ChangeSetRun {
    let schema: WritingSchema
    let store: UUID
    let statements: StatementCache
    /// The last key of each entity before the set: greater ones are its own inserts.
    let lastKeys: [Int64]

    var faults = ChangeFaults()
    /// The change that is being carried out, for its faults.
    var change: Int?
    var deleted: Set<ObjectKey> = []
    /// To-one relationships that may not be nil and may have become so, and why.
    var obligations: [Obligation: ObligationCause] = [:]
    var result = SaveResult()
    private var bumped: Set<ObjectKey> = []
    /// Assignments that wait for the insert at a place.
    private var waiting: [Int: [(ObjectKey, Assignment)]] = [:]

    init(
        _ schema: WritingSchema, store: UUID, statements: StatementCache, lastKeys: [Int64]
    ) {
        self.schema = schema
        self.store = store
        self.statements = statements
        self.lastKeys = lastKeys
    }

    func run(_ set: PlannedChangeSet) throws(SQLiteError) -> Result<SaveResult, LarderError> {
        for (place, planned) in set.changes.enumerated() where !faults.isFull {
            change = place
            switch planned {
            case .insert(let object, let values, let assignments):
                try insert(object, values, assignments)
                for (waiter, assignment) in waiting.removeValue(forKey: place) ?? [] {
                    // A delete in between may have taken it along.
                    guard !deleted.contains(waiter) else { continue }
                    try assign(assignment, to: waiter)
                }
            case .update(let object, let ifVersion, let values, let assignments):
                try update(object, ifVersion: ifVersion, values, assignments)
            case .delete(let object, let ifVersion):
                try delete(object, ifVersion: ifVersion)
            }
        }
        change = nil
        if !faults.isFull { try checkObligations() }
        return faults.error(changeCount: set.changes.count).map { .failure($0) } ?? .success(result)
    }

    func fault(_ error: LarderError) {
        faults.add(error, change: change)
    }

    // MARK: - Objects

    private func insert(
        _ object: ObjectKey, _ values: [SQLBinding], _ assignments: [Assignment]
    ) throws(SQLiteError) {
        let entity = schema.entities[object.entity]
        var bindings = [SQLBinding.integer(object.key)] + values
        for number in entity.insertedToOnes {
            let target = assignments.first { $0.relationship == number }?.targets.first
            bindings += try insertedLink(schema.relationships[number], target)
            if target == nil { oblige(object, schema.relationships[number], .missing) }
        }
        do throws(SQLiteError) {
            try statements.statement(entity.insert).run(bindings)
        } catch {
            try reportUniqueness(error, object, assigned: insertedColumns(entity, bindings))
            return
        }
        result.inserted.append(identifier(of: object))
        // A cascade along a link to it that was made earlier does not reach a later insert.
        deleted.remove(object)
        // What other rows hold may still be set by a later change.
        for number in entity.relationshipNumbers where !entity.insertedToOnes.contains(number) {
            oblige(object, schema.relationships[number], .missing)
        }
        for assignment in assignments where !entity.insertedToOnes.contains(assignment.relationship)
        {
            try assignWhenReady(assignment, to: object)
        }
    }

    private func update(
        _ object: ObjectKey, ifVersion: Int64?, _ values: [(attribute: Int, value: SQLBinding)],
        _ assignments: [Assignment]
    ) throws(SQLiteError) {
        guard let version = try checkedVersion(of: object, ifVersion: ifVersion) else { return }
        let entity = schema.entities[object.entity]
        let needsBump = noteBump(of: object)
        result.updatedVersions.append(needsBump ? version &+ 1 : version)
        if !values.isEmpty {
            let text = entity.update(values.map(\.attribute), bumpingVersion: needsBump)
            do throws(SQLiteError) {
                try statements.statement(text).run(
                    values.map(\.value) + [.integer(object.key)])
            } catch {
                let columns = values.map { (entity.attributes[$0.attribute].column, $0.value) }
                try reportUniqueness(
                    error, object, assigned: Dictionary(columns, uniquingKeysWith: { $1 }))
                return
            }
        } else if needsBump {
            try statements.statement(entity.bump).run([.integer(object.key)])
        }
        for assignment in assignments { try assignWhenReady(assignment, to: object) }
    }

    /// The object's version now; nil, with a fault, if it does not exist or has another version
    /// than the caller saw.
    func checkedVersion(
        of object: ObjectKey, ifVersion: Int64?
    ) throws(SQLiteError) -> Int64? {
        guard let version = try version(of: object) else {
            fault(missing(object))
            return nil
        }
        // The caller knows nothing of what the set itself has done to the object.
        let before = bumped.contains(object) ? version &- 1 : version
        if let ifVersion, ifVersion != before {
            let uri = uri(of: object)
            fault(
                LarderError(
                    .versionConflict, "\(uri) has version \(before), not \(ifVersion)",
                    hint: "read it again, and repeat the change", uri: uri))
            return nil
        }
        return version
    }

    func version(of object: ObjectKey) throws(SQLiteError) -> Int64? {
        try integer(schema.entities[object.entity].version, object.key)
    }

    func bump(_ object: ObjectKey) throws(SQLiteError) {
        guard noteBump(of: object) else { return }
        try statements.statement(schema.entities[object.entity].bump).run([.integer(object.key)])
    }

    /// Whether the version has to grow: once in a save, and not for an object that it inserts.
    private func noteBump(of object: ObjectKey) -> Bool {
        !isInserted(object) && bumped.insert(object).inserted
    }

    func isInserted(_ object: ObjectKey) -> Bool { object.key > lastKeys[object.entity] }

    // MARK: - Assignments

    /// Assigns at once, or after the last insert whose row the assignment has to change.
    private func assignWhenReady(
        _ assignment: Assignment, to object: ObjectKey
    ) throws(SQLiteError) {
        let relationship = schema.relationships[assignment.relationship]
        let last = assignment.targets.lazy.compactMap(\.insertedBy).max()
        if let last, let change, last > change, !relationship.changesOnlyItself {
            waiting[last, default: []].append((object, assignment))
        } else {
            try assign(assignment, to: object)
        }
    }

    /// The values of a to-one's columns in the row that is inserted.
    private func insertedLink(
        _ relationship: StoredRelationship, _ target: Assignment.Target?
    ) throws(SQLiteError) -> [SQLBinding] {
        guard case .own(let column) = relationship.storage else { return [] }
        let hasPosition = column.positionColumn != nil
        guard let target, try checkExists(target, relationship) else {
            return hasPosition ? [.null, .null] : [.null]
        }
        let key = SQLBinding.integer(target.key)
        guard let lastPosition = column.lastPosition else { return [key] }
        return [key, .integer(try positionAfterLast(lastPosition, target.key))]
    }

    private func insertedColumns(
        _ entity: StoredEntity, _ bindings: [SQLBinding]
    ) -> [String: SQLBinding] {
        var columns = entity.attributes.map(\.column)
        for number in entity.insertedToOnes {
            guard case .own(let column) = schema.relationships[number].storage else { continue }
            columns += [column.column, column.positionColumn].compactMap(\.self)
        }
        return Dictionary(zip(columns, bindings.dropFirst()), uniquingKeysWith: { $1 })
    }
}
