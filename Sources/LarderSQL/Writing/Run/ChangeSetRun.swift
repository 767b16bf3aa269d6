import FoundationEssentials
import LarderModel

/// Runs one planned change set within a transaction of the caller, who rolls it back if there are
/// errors.
///
/// Conditions are checked first; if one is not met, nothing else is done. Conflicts are resolved
/// next. Then the changes are made in their order. At the end the deferred
/// checks run and derived values are computed. Errors are collected, so that all are reported;
/// errors of SQLite itself are thrown.
///
/// The run coordinates; each rule is a type with its own state in `Rules/` and `Lists/`.
///
/// Invariant: a save increments the version of an object by one, however often it changes it, if it
/// updates the object by identifier or changes one of its to-one relationships from either side. A
/// to-many that changes through its inverse does not change the version of its object.
package final class ChangeSetRun {
    package let context: ChangeContext
    package let checks = DeferredChecks()
    package let values: ValueCheck
    /// The number of the set's transaction in the history.
    package let transaction: Int64
    /// The time of the save, in seconds since 2001.
    package let time: Double

    package var result = SaveResult()
    var upserts = UpsertResolver()
    private var isUpserting = false
    private var lists = ListEditor()
    private var pending = PendingLinks()
    /// Updates that a merge policy skipped, by their index in ``SaveResult/updatedVersions``.
    private var skippedUpdates: [Int: ObjectKey] = [:]

    package init(
        _ context: ChangeContext, values: ValueCheck, transaction: Int64, time: Double
    ) {
        self.context = context
        self.values = values
        self.transaction = transaction
        self.time = time
    }

    package var links: LinkWriter { LinkWriter(context: context, checks: checks) }
    package var history: HistoryRecorder {
        HistoryRecorder(context: context, transaction: transaction)
    }
    var derivedValues: DerivedValueUpdater {
        DerivedValueUpdater(context: context, time: time)
    }

    package func run(_ set: PlannedChangeSet) throws(SQLError) -> Result<SaveResult, LarderError> {
        context.add(set.errors, from: 0)
        if try meets(set.conditions) { try makeChanges(of: set) }
        return context.errors.error(changeCount: set.changes.count).map { .failure($0) }
            ?? .success(result)
    }

    private func meets(_ conditions: [PlannedCondition]) throws(SQLError) -> Bool {
        if conditions.isEmpty { return true }
        return try ConditionCheck(context: context).run(conditions)
    }

    private func makeChanges(of set: PlannedChangeSet) throws(SQLError) {
        try makeChanges(of: set, from: 0)
        try finish()
    }

    /// Makes the changes of a set, or of the part of it that begins with this index. After the last
    /// part the caller calls ``finish()``.
    package func makeChanges(of set: PlannedChangeSet, from start: Int) throws(SQLError) {
        isUpserting = set.onUniqueConflict == .upsert
        context.recordEntities(ofInsertsIn: set)
        guard try isPermitted(set.changes, from: start) else { return }
        for (offset, planned) in try resolveConflicts(in: set).enumerated()
        where !context.errors.isFull {
            let index = start + offset
            try context.checkBudget()
            context.changeIndex = index
            switch planned {
            case .insert(let insert): try self.insert(insert, at: index)
            case .update(let object, _, let values): try update(object, values)
            case .delete(let object, _): try delete(object)
            case .updateAll(let selection, let assignments):
                try updateAll(selection, assignments)
            case .deleteAll(let selection): try deleteAll(selection)
            case nil: skip(set.changes[offset])
            }
        }
        context.changeIndex = nil
    }

    /// Whether the user has the rights for the objects that changes name. Otherwise errors are
    /// added, and nothing else may be done: it could show what the user may not see.
    private func isPermitted(
        _ changes: [PlannedChange?], from start: Int
    ) throws(SQLError) -> Bool {
        guard let rights = context.rights else { return true }
        try rights.check(changes, from: start, context)
        return context.errors.isEmpty
    }

    /// Runs the inserts of one part of a stream of rows. Temporary identifiers are valid within
    /// their part only. The memory of a part must not grow with the number of its inserts, except
    /// for what the end of the run checks.
    ///
    /// - Parameter index: The index of the part's first insert in the stream.
    /// - Returns: The keys of the objects, in the order of the inserts.
    package func insert(_ part: PlannedChangeSet, from index: Int) throws(SQLError) -> [Int64] {
        isUpserting = part.onUniqueConflict == .upsert
        context.recordEntities(ofInsertsIn: part)
        guard try isPermitted(part.changes, from: index) else { return [] }
        for (offset, planned) in part.changes.enumerated() where !context.errors.isFull {
            guard case .insert(let insert)? = planned else { continue }
            try context.checkBudget()
            context.changeIndex = index + offset
            try self.insert(insert, at: index + offset)
        }
        context.changeIndex = nil
        upserts.removeReplacements()
        context.removeRecordedEntities()
        defer {
            result.inserted.removeAll(keepingCapacity: true)
            result.upserted.removeAll(keepingCapacity: true)
        }
        return result.inserted.compactMap(\.permanentKey)
    }

    /// The number of records that the end of the run, or the history, handles one by one.
    package var recordCount: Int { context.recordCount + checks.recordCount }

    /// Checks what must hold at the end, and computes derived values.
    package func finish() throws(SQLError) {
        try checks.run(context)
        if context.errors.isEmpty { try context.rights?.finish(context) }
        // The deferred values are stored by now.
        if context.errors.isEmpty { try derivedValues.update() }
        for (index, object) in skippedUpdates {
            result.updatedVersions[index] = try context.version(of: object) ?? 0
        }
    }

    // MARK: - Conflicts

    private func resolveConflicts(
        in set: PlannedChangeSet
    ) throws(SQLError) -> [PlannedChange?] {
        guard set.hasExpectations else { return set.changes }
        var resolver = ConflictResolver(context)
        let changes = try resolver.resolve(set)
        result.merged = resolver.merged
        return changes
    }

    private func skip(_ change: PlannedChange?) {
        guard case .update(let object, _, _) = change else { return }
        skippedUpdates[result.updatedVersions.count] = object
        result.updatedVersions.append(0)
    }

    // MARK: - Inserts

    private func insert(_ insert: PlannedInsert, at index: Int) throws(SQLError) {
        switch try isUpserting ? upserts.match(insert, checks.uniqueness, context) : .none {
        case .none:
            for error in insert.missing { context.add(error) }
            try insertNew(insert)
        case .one(let existing):
            if let denial = try context.rights?.violation(.update, existing, context) {
                context.add(denial)
                _ = pending.take(after: index)
                return
            }
            upserts.replace(insert.object, with: existing)
            result.upserted.append(result.inserted.count)
            result.inserted.append(context.identifier(of: existing))
            let statements = rowStatements(insert.values, of: existing)
            if let statements {
                _ = try history.recordChanges(
                    insert.values.attributes, of: existing, statements)
            }
            try write(
                insert.values, to: existing, statements,
                incrementingVersion: context.needsVersionIncrement(existing))
        case .error(let error):
            context.add(error)
            _ = pending.take(after: index)
        }
        for (object, link) in pending.take(after: index) {
            // A delete in between may have deleted the object too.
            guard !context.deleted.contains(object) else { continue }
            switch link {
            case .assignment(let assignment): try assign(assignment, to: object)
            case .edits(let edits): try edit(object, edits)
            }
        }
    }

    private func insertNew(_ insert: PlannedInsert) throws(SQLError) {
        let object = insert.object
        let entity = context.schema.entities[object.entity]
        try insertRow(insert, entity)
        context.changes.insert(object)
        result.inserted.append(context.identifier(of: object))
        try checks.uniqueness.record(object, in: entity.constraints.indices, context)
        // A later change may still set what the rows of other objects hold.
        for number in entity.relationshipNumbers where !entity.insertedToOnes.contains(number) {
            let relationship = context.schema.relationships[number]
            recordNotSet(relationship, of: object)
            checks.cardinality.record(relationship, of: object, change: context.changeIndex)
        }
        // The other side of a link to the object itself may be set by this change too.
        for assignment in insert.values.assignments
        where !isInRow(assignment, of: object, entity) {
            try assignWhenReady(assignment, to: object)
        }
        try editWhenReady(object, insert.values.edits)
    }

    private func insertRow(
        _ insert: PlannedInsert, _ entity: StoredEntity
    ) throws(SQLError) {
        let object = insert.object
        var values: [SQLValue] = []
        values.reserveCapacity(entity.insertion.parameterCount)
        values.append(.integer(object.key))
        for (attribute, value) in insert.row.enumerated() {
            values.append(
                entity.hasUniqueAttribute
                    ? try checks.uniqueness.storableValue(
                        value, of: attribute, of: object, context)
                    : value)
        }
        for number in entity.insertedToOnes {
            let relationship = context.schema.relationships[number]
            let assignment = insert.values.assignments.first {
                $0.relationship == number && isInRow($0, of: object, entity)
            }
            let target = assignment.flatMap { upserts.resolve($0).targets.first }
            values += try links.columnValues(relationship, target)
            if target == nil { recordNotSet(relationship, of: object) }
        }
        try context.session.run(entity.insertion.one, values)
    }

    /// Returns whether the insert of a row stores an assignment.
    private func isInRow(
        _ assignment: Assignment, of object: ObjectKey, _ entity: StoredEntity
    ) -> Bool {
        entity.insertedToOnes.contains(assignment.relationship)
            && awaitedInsert(assignment.targets) == nil
            && assignment.targets.first?.object != object
    }

    private func recordNotSet(_ relationship: StoredRelationship, of object: ObjectKey) {
        checks.requiredReferences.record(
            relationship, of: object, .notSet, change: context.changeIndex)
    }

    // MARK: - Updates and deletes

    private func update(_ object: ObjectKey, _ values: PlannedValues) throws(SQLError) {
        let statements = rowStatements(values, of: object)
        let version =
            if let statements {
                try history.recordChanges(values.attributes, of: object, statements)
            } else {
                try context.version(of: object)
            }
        guard let version else { return context.add(context.notFound(object)) }
        let incrementsVersion = context.needsVersionIncrement(object)
        result.updatedVersions.append(incrementsVersion ? version &+ 1 : version)
        try write(values, to: object, statements, incrementingVersion: incrementsVersion)
    }

    /// The statements for the attributes of values; nil if there are none.
    private func rowStatements(
        _ values: PlannedValues, of object: ObjectKey
    ) -> RowStatements? {
        guard !values.attributes.isEmpty else { return nil }
        return context.schema.entities[object.entity].rows[values.attributes.map(\.attribute)]
    }

    /// Writes values whose changes are recorded.
    ///
    /// - Parameter statements: Those for the attributes; nil if there are none.
    private func write(
        _ values: PlannedValues, to object: ObjectKey, _ statements: RowStatements?,
        incrementingVersion: Bool
    ) throws(SQLError) {
        let entity = context.schema.entities[object.entity]
        if let statements {
            let update =
                incrementingVersion ? statements.updateAndIncrementVersion : statements.update
            try store(values.attributes, of: object, update)
            if !entity.constraints.isEmpty {
                try checks.uniqueness.record(
                    object, in: entity.constraints(over: statements.attributes), context)
            }
        } else if incrementingVersion {
            try context.session.run(entity.incrementVersion, [.integer(object.key)])
        }
        for assignment in values.assignments { try assignWhenReady(assignment, to: object) }
        try editWhenReady(object, values.edits)
    }

    /// - Parameter update: One of ``RowStatements``.
    func store(
        _ values: [(attribute: Int, value: SQLValue)], of object: ObjectKey, _ update: SQL
    ) throws(SQLError) {
        var stored: [SQLValue] = []
        stored.reserveCapacity(values.count + 1)
        for (attribute, value) in values {
            stored.append(
                try checks.uniqueness.storableValue(value, of: attribute, of: object, context))
        }
        stored.append(.integer(object.key))
        try context.session.run(update, stored)
    }

    /// Deletes an object by identifier. An object that the set has deleted already needs nothing.
    private func delete(_ object: ObjectKey) throws(SQLError) {
        guard !context.deleted.contains(object) else { return }
        guard try context.version(of: object) != nil else {
            return context.add(context.notFound(object))
        }
        try deleteStored(object)
    }

    func deleteStored(_ object: ObjectKey) throws(SQLError) {
        let deleter = ObjectDeleter(context: context, checks: checks, history: history)
        result.deletedCount += try deleter.delete(object)
    }

    // MARK: - Links

    func assign(_ assignment: Assignment, to object: ObjectKey) throws(SQLError) {
        try links.assign(upserts.resolve(assignment), to: object)
    }

    private func edit(_ object: ObjectKey, _ edits: [PlannedEdit]) throws(SQLError) {
        try lists.apply(upserts.resolve(edits), to: object, links)
    }

    /// Assigns now, or after the last insert that the assignment names.
    private func assignWhenReady(
        _ assignment: Assignment, to object: ObjectKey
    ) throws(SQLError) {
        if let insert = awaitedInsert(assignment.targets) {
            pending.add(.assignment(assignment), of: object, until: insert)
        } else {
            try assign(assignment, to: object)
        }
    }

    /// Makes the edits now, or after the last insert that one of them names.
    private func editWhenReady(
        _ object: ObjectKey, _ edits: [PlannedEdit]
    ) throws(SQLError) {
        if edits.isEmpty { return }
        if let insert = edits.lazy.compactMap({ self.awaitedInsert($0.named) }).max() {
            pending.add(.edits(edits), of: object, until: insert)
        } else {
            try edit(object, edits)
        }
    }

    private func awaitedInsert(_ targets: [Assignment.Target]) -> Int? {
        PendingLinks.awaitedInsert(targets, runningChange: context.changeIndex)
    }
}
