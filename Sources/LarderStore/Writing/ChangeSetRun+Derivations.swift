import CSQLite
import LarderModel

// Derived attributes: computed when the set is done, each once for each object that may have got
// another value, in an order in which none reads what is still to be computed.
extension ChangeSetRun {
    /// Brings the derived values up to date, and notes those that changed for the history.
    func derive() throws(SQLiteError) {
        let graph = schema.derivations
        guard !graph.isEmpty else { return }
        var stale = try staleObjects()
        for (number, derivation) in graph.derivations.enumerated() where !faults.isFull {
            let existing = stale[number].keys
            stale[number] = KeySet()
            let inserted = changes.insertedKeys(derivation.entityNumber)
            guard !existing.isEmpty || !inserted.isEmpty else { continue }
            // Asked of the cache once, and not for each object.
            let read = try statements.statement(derivation.plan.text)
            let update = try statements.statement(derivation.update)
            for keys in inserted + existing.map({ $0...$0 }) {
                for key in keys where !faults.isFull {
                    try checkTime()
                    let object = ObjectKey(entity: derivation.entityNumber, key: key)
                    guard try derive(derivation, of: object, read, update) else { continue }
                    let place = StoredEntity.Place.attribute(derivation.attribute)
                    changes.update(object, place)
                    try addDependents(of: place, object, to: &stale)
                }
            }
        }
    }

    /// Does so in the middle of the set, for a predicate that reads them. What cannot be derived
    /// now may be when the set is done.
    func deriveMeanwhile() throws(SQLiteError) {
        let before = faults
        try derive()
        faults = before
    }

    /// By derivation the keys of those objects, but for inserted ones, whose value may have become
    /// another one.
    private func staleObjects() throws(SQLiteError) -> [KeySet] {
        let graph = schema.derivations
        var stale = [KeySet](repeating: KeySet(), count: graph.derivations.count)
        for run in changes.updatedRuns {
            let (isRead, readingTime) = (graph.isRead(run.entity), graph.readingTime[run.entity])
            guard isRead || !readingTime.isEmpty else { continue }
            for key in run.first...run.last {
                let object = ObjectKey(entity: run.entity, key: key)
                if isRead {
                    for place in run.places { try addDependents(of: place, object, to: &stale) }
                }
                if bumped.contains(object) {
                    for number in readingTime { stale[number].insert(key) }
                }
            }
        }
        for (entity, keptKeys) in graph.keptKeys.enumerated() {
            for kept in keptKeys {
                let holder = schema.relationships[kept.holder]
                guard case .own(let column) = holder.storage else { continue }
                for deleted in changes.deletedKeys(entity) {
                    for key in try keys(column.holders, deleted) {
                        let reader = try object(holder.entityNumber, key)
                        for number in kept.derivations
                        where graph.derivations[number].entityNumber == reader.entity {
                            stale[number].insert(key)
                        }
                    }
                }
            }
        }
        return stale
    }

    /// Notes whose values may have changed with a property of an object.
    private func addDependents(
        of place: StoredEntity.Place, _ object: ObjectKey, to stale: inout [KeySet]
    ) throws(SQLiteError) {
        for dependent in schema.derivations.dependents(of: place, ofEntity: object.entity) {
            guard let number = dependent.relationship else {
                if !isInserted(object) { stale[dependent.derivation].insert(object.key) }
                continue
            }
            let relationship = schema.relationships[number]
            for key in try owners(of: object, relationship) {
                let owner = try self.object(relationship.entityNumber, key)
                let derivation = schema.derivations.derivations[dependent.derivation]
                // What several entities inherit has a derivation for each.
                if owner.entity == derivation.entityNumber, !isInserted(owner) {
                    stale[dependent.derivation].insert(key)
                }
            }
        }
    }

    /// The objects whose relationship leads to an object.
    private func owners(
        of object: ObjectKey, _ relationship: StoredRelationship
    ) throws(SQLiteError) -> [Int64] {
        switch relationship.storage {
        case .own(let column): return try keys(column.holders, object.key)
        case .inverse(let holder):
            guard case .own(let column) = schema.relationships[holder].storage else { return [] }
            return try integer(column.held, object.key).map { [$0] } ?? []
        case .join(let table): return try keys(table.owners, object.key)
        }
    }

    /// Computes and stores one value; whether it is another one than before.
    private func derive(
        _ derivation: StoredDerivation, of object: ObjectKey, _ read: Statement,
        _ update: Statement
    ) throws(SQLiteError) -> Bool {
        let plan = derivation.plan
        defer { read.reset() }
        do throws(SQLiteError) {
            try read.bind(plan.bindings(key: object.key, now: time))
            // One that is gone again has no row.
            guard try read.step() else { return false }
        } catch {
            guard error.code == SQLITE_ERROR, let fault = functionFaults.take() else {
                throw error
            }
            addFault(fault, derivation, object)
            return false
        }
        let computed: SQLBinding
        do throws(LarderError) {
            computed = try plan.computed(read)
        } catch {
            addFault(error, derivation, object)
            return false
        }
        let attribute = plan.derivation.attribute
        if computed == .null, !attribute.isOptional {
            addFault(
                LarderError(.missingValue, "it is required, and its derivation gives nil"),
                derivation, object)
        }
        guard computed != read.value(at: DerivationPlan.storedColumn) else { return false }
        read.reset()
        try update.run([computed, .integer(object.key)])
        return true
    }

    private func addFault(
        _ error: LarderError, _ derivation: StoredDerivation, _ object: ObjectKey
    ) {
        let of = derivation.plan.derivation
        let whose = isInserted(object) ? "an inserted object" : uri(of: object)
        let fault = ChangeFault(
            error.code, "\(of.qualifiedName) of \(whose) cannot be derived: \(error.message)",
            entityName: of.entityName, propertyNames: [of.attribute.name],
            uri: isInserted(object) ? nil : uri(of: object), rule: .derived)
        faults.add(LarderError(fault), change: nil)
    }
}
