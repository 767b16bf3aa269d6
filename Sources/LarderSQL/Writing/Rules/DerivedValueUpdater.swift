import LarderModel

/// Brings derived attributes up to date at the end of a change set.
///
/// Each value is computed at most once, for each object whose value may have changed, and in an
/// order in which no derivation reads a value that is still to be computed. Which objects these are
/// follows from the recorded changes.
struct DerivedValueUpdater {
    let context: ChangeContext
    /// The time of the save, in seconds since 2001.
    let time: Double

    /// By derivation, the keys of the objects that existed before the set and whose values may
    /// have changed.
    private typealias StaleKeys = [KeySet]

    /// Updates the values, and records those that changed.
    func update() throws(SQLError) {
        let graph = context.schema.derivations
        guard !graph.isEmpty else { return }
        var stale = try staleKeys()
        for (number, derivation) in graph.derivations.enumerated()
        where !context.errors.isFull {
            let existing = stale[number].keys
            stale[number] = KeySet()
            let inserted = context.changes.insertedKeys(derivation.entityNumber)
            guard !existing.isEmpty || !inserted.isEmpty else { continue }
            for keys in inserted + existing.map({ $0...$0 }) {
                for key in keys where !context.errors.isFull {
                    try context.checkBudget()
                    let object = ObjectKey(entity: derivation.entityNumber, key: key)
                    guard try update(derivation, of: object) else { continue }
                    let property = StoredEntity.Property.attribute(derivation.attribute)
                    context.changes.update(object, property)
                    try addDependents(of: property, object, to: &stale)
                }
            }
        }
    }

    /// Updates the values while the set runs, for a predicate that reads them. Errors are
    /// discarded: a value that cannot be computed now may be valid at the end.
    func updateForPredicate() throws(SQLError) {
        let errors = context.errors
        try update()
        context.restore(errors)
    }

    // MARK: - Which values

    private func staleKeys() throws(SQLError) -> StaleKeys {
        let graph = context.schema.derivations
        var stale = StaleKeys(repeating: KeySet(), count: graph.derivations.count)
        for run in context.changes.updatedRuns {
            let (isRead, readingTime) = (graph.isRead(run.entity), graph.readingTime[run.entity])
            guard isRead || !readingTime.isEmpty else { continue }
            for key in run.first...run.last {
                let object = ObjectKey(entity: run.entity, key: key)
                if isRead {
                    for property in run.properties {
                        try addDependents(of: property, object, to: &stale)
                    }
                }
                if context.hasIncrementedVersion(object) {
                    for number in readingTime { stale[number].insert(key) }
                }
            }
        }
        try addReadersOfDanglingKeys(to: &stale)
        return stale
    }

    /// Adds the values that change because a deleted object leaves its key in the rows of others.
    private func addReadersOfDanglingKeys(to stale: inout StaleKeys) throws(SQLError) {
        let graph = context.schema.derivations
        for (entity, danglingKeys) in graph.danglingKeys.enumerated() {
            for dangling in danglingKeys {
                let holder = context.schema.relationships[dangling.holder]
                guard case .own(let column) = holder.storage else { continue }
                for deleted in context.changes.deletedKeys(entity) {
                    for key in try context.keys(column.holders, deleted) {
                        let reader = try context.object(holder.entityNumber, key)
                        for number in dangling.derivations
                        where graph.derivations[number].entityNumber == reader.entity {
                            stale[number].insert(key)
                        }
                    }
                }
            }
        }
    }

    /// Adds the values that depend on a property of an object.
    private func addDependents(
        of property: StoredEntity.Property, _ object: ObjectKey, to stale: inout StaleKeys
    ) throws(SQLError) {
        let graph = context.schema.derivations
        for dependent in graph.dependents(of: property, ofEntity: object.entity) {
            guard let number = dependent.relationship else {
                if !context.isInserted(object) {
                    stale[dependent.derivation].insert(object.key)
                }
                continue
            }
            let relationship = context.schema.relationships[number]
            for key in try owners(of: object, relationship) {
                let owner = try context.object(relationship.entityNumber, key)
                let derivation = graph.derivations[dependent.derivation]
                // An attribute that several entities inherit has a derivation for each of them.
                if owner.entity == derivation.entityNumber, !context.isInserted(owner) {
                    stale[dependent.derivation].insert(key)
                }
            }
        }
    }

    /// The keys of the objects whose relationship leads to an object.
    private func owners(
        of object: ObjectKey, _ relationship: StoredRelationship
    ) throws(SQLError) -> [Int64] {
        switch relationship.storage {
        case .own(let column): return try context.keys(column.holders, object.key)
        case .inverse(let holder):
            guard case .own(let column) = context.schema.relationships[holder].storage
            else { return [] }
            return try context.integer(column.held, object.key).map { [$0] } ?? []
        case .join(let table): return try context.keys(table.owners, object.key)
        }
    }

    // MARK: - Computing

    /// Computes and stores one value.
    ///
    /// - Returns: Whether the value changed.
    private func update(
        _ derivation: StoredDerivation, of object: ObjectKey
    ) throws(SQLError) -> Bool {
        let plan = derivation.plan
        let row: [SQLValue]
        do throws(SQLError) {
            let values = plan.values(key: object.key, now: time)
            // An inserted object that was deleted again has no row.
            guard let read = try context.row(plan.sql, values) else { return false }
            row = read
        } catch {
            guard case .function(let reported) = error.condition else { throw error }
            add(reported, derivation, object)
            return false
        }
        let computed: SQLValue
        do throws(LarderError) {
            computed = try plan.stored(row[DerivationPlan.computedColumn])
        } catch {
            add(error, derivation, object)
            return false
        }
        if computed == .null, !plan.derivation.attribute.isOptional {
            add(
                LarderError(.missingValue, "it is required, and its derivation is nil"),
                derivation, object)
        }
        guard computed != row[DerivationPlan.storedColumn] else { return false }
        try context.session.run(derivation.update, [computed, .integer(object.key)])
        return true
    }

    private func add(
        _ error: LarderError, _ derivation: StoredDerivation, _ object: ObjectKey
    ) {
        let derived = derivation.plan.derivation
        let violation = ChangeViolation(
            error.code,
            "\(derived.qualifiedName) of \(context.name(of: object)) cannot be derived: "
                + error.message,
            entityName: derived.entityName, propertyNames: [derived.attribute.name],
            uri: context.stableURI(of: object), rule: .derived)
        context.add(LarderError(violation), change: nil)
    }
}
