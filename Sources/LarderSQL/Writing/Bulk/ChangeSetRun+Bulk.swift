import LarderModel

// Bulk updates and deletes: changes of all objects that match a predicate. The objects and their
// new values are read first. Then each object is changed like one that is changed by identifier.
extension ChangeSetRun {
    func deleteAll(_ selection: PlannedSelection) throws(SQLError) {
        guard let selected = try select(selection) else { return }
        try selected.keys { (key) throws(SQLError) in
            guard !context.errors.isFull else { return false }
            let object = try context.object(selection.entity, key)
            // A delete rule may have deleted it already.
            if !context.deleted.contains(object) { try deleteStored(object) }
            return true
        }
        try selected.remove()
    }

    func updateAll(
        _ selection: PlannedSelection, _ assignments: [PlannedAssignment]
    ) throws(SQLError) {
        guard let selected = try select(selection) else { return }
        let entity = context.schema.entities[selection.entity]
        let update = BulkUpdate(assignments, entity, values: values)
        for column in update.uniqueColumns {
            try selected.clear(column, of: entity)
        }
        try selected.rows { (row) throws(SQLError) in
            guard !context.errors.isFull else { return false }
            try context.checkBudget()
            try apply(update, row)
            return true
        }
        try recordCombinations(update, selected)
        try selected.remove()
    }

    /// Selects the objects. nil adds an error.
    private func select(_ selection: PlannedSelection) throws(SQLError) -> BulkSelection? {
        // The predicate has to read what the set has done so far.
        try checks.uniqueness.storeFreedValues(context)
        try derivedValues.updateForPredicate()
        let sql: SQL
        do throws(LarderError) {
            let parameters = try selection.parameters.mapObjects {
                upserts.resolve($0, context)
            }
            let statements = try selection.plan.statements(
                parameters, context.conversions)
            guard statements.count == 1 else { preconditionFailure("a selection is one query") }
            sql = statements[0]
        } catch {
            context.add(error)
            return nil
        }
        let selector = BulkSelector(context: context)
        let selected: BulkSelection
        switch try selector.select(sql, selection.plan.query.columns) {
        case .success(let selection): selected = selection
        case .failure(let error):
            context.add(error)
            return nil
        }
        var affected = AffectedObjects(count: selected.count)
        if selection.wantsIdentifiers {
            let count = result.affected.reduce(selected.count) { $0 + Int64($1.identifiers.count) }
            guard count <= Limits.affectedIdentifiersMax else {
                context.add(Self.tooManyIdentifiers(count))
                return nil
            }
            try selected.keys { (key) throws(SQLError) in
                let object = try context.object(selection.entity, key)
                affected.identifiers.append(context.identifier(of: object))
                return true
            }
        }
        result.affected.append(affected)
        return selected
    }

    private static func tooManyIdentifiers(_ count: Int64) -> LarderError {
        LarderError(
            .resourceExhausted,
            "the reply would have the identifiers of \(count) objects, and the maximum is "
                + "\(Limits.affectedIdentifiersMax)",
            hint: "request only their number, or change fewer objects at once")
    }

    private func apply(_ update: BulkUpdate, _ row: [SQLValue]) throws(SQLError) {
        let object = try context.object(update.entity.number, row[0].int64 ?? 0)
        guard let values = try update.values(row, object, context) else { return }
        context.rights?.recordUpdate(object)
        let incrementsVersion = context.needsVersionIncrement(object)
        if !values.attributes.isEmpty {
            for (index, value) in values.attributes.enumerated()
            where row[update.storedColumns[index]] != value.value {
                context.changes.update(object, .attribute(value.attribute))
                try history.recordFormer(
                    row[update.storedColumns[index]], value.attribute, of: object)
            }
            try store(
                values.attributes, of: object,
                incrementsVersion ? update.incrementingStatement : update.statement)
        } else if incrementsVersion {
            try context.session.run(update.incrementingStatement, [.integer(object.key)])
        }
        for assignment in values.assignments { try assign(assignment, to: object) }
    }

    /// Records objects with the same combinations of values, once all objects have their values.
    private func recordCombinations(
        _ update: BulkUpdate, _ selected: BulkSelection
    ) throws(SQLError) {
        let numbers = update.attributes.map(\.attribute)
        let hasSubentities = update.entity.hasSubentities
        guard !update.combinations.isEmpty || hasSubentities, !context.errors.isFull
        else { return }
        try selected.keys { (key) throws(SQLError) in
            try context.checkBudget()
            let object = try context.object(update.entity.number, key)
            guard hasSubentities else {
                try checks.uniqueness.record(object, in: update.combinations, context)
                return true
            }
            // A subentity may constrain attributes that it inherits.
            let own = context.schema.entities[object.entity]
            let combinations = own.constraints(over: numbers).filter {
                own.constraints[$0].uniqueAttribute == nil
            }
            try checks.uniqueness.record(object, in: combinations, context)
            return true
        }
    }
}
