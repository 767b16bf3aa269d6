import CSQLite
import LarderModel

// Changes of all objects that satisfy a predicate. The objects and what they become are read first;
// then each is changed as one that is changed by name.
extension ChangeSetRun {
    func deleteAll(_ selection: PlannedSelection) throws(SQLiteError) {
        guard let selected = try select(selection) else { return }
        let keys = try selected.keys()
        defer { keys.reset() }
        while !faults.isFull, try keys.step() {
            let object = try self.object(selection.entity, keys.int64(at: 0))
            // A delete rule may have taken it along.
            guard !deleted.contains(object) else { continue }
            try deleteExisting(object)
        }
        keys.reset()
        try selected.remove()
    }

    func updateAll(
        _ selection: PlannedSelection, _ assignments: [PlannedAssignment]
    ) throws(SQLiteError) {
        guard let selected = try select(selection) else { return }
        let update = try ObjectsUpdate(assignments, schema.entities[selection.entity], statements)
        for column in update.uniqueColumns {
            try selected.clear(column, of: update.entity)
        }
        let rows = try selected.rows()
        defer { rows.reset() }
        while !faults.isFull, try rows.step() {
            try checkTime()
            try apply(update, rows)
        }
        rows.reset()
        try noteCombinations(update, selected)
        try selected.remove()
    }

    // MARK: Which objects

    /// Finds the objects; nil where that is a fault.
    private func select(_ selection: PlannedSelection) throws(SQLiteError) -> SelectedObjects? {
        try settleAside()
        try deriveMeanwhile()
        let sql: SQL
        do throws(LarderError) {
            let parameters = try selection.parameters.mapObjects(meant)
            let statements = try selection.plan.statements(parameters)
            guard statements.count == 1 else { preconditionFailure("a selection is one query") }
            sql = statements[0]
        } catch {
            fault(error)
            return nil
        }
        guard let selected = try selected(by: sql, selection.plan.query.columns) else {
            return nil
        }
        var affected = AffectedObjects(count: selected.count)
        if selection.wantsIdentifiers {
            let count = result.affected.reduce(selected.count) { $0 + Int64($1.identifiers.count) }
            guard count <= Limits.affectedIdentifiersMax else {
                fault(tooManyIdentifiers(count))
                return nil
            }
            let keys = try selected.keys()
            defer { keys.reset() }
            while try keys.step() {
                let object = try self.object(selection.entity, keys.int64(at: 0))
                affected.identifiers.append(identifier(of: object))
            }
        }
        result.affected.append(affected)
        return selected
    }

    private func tooManyIdentifiers(_ count: Int64) -> LarderError {
        LarderError(
            .resourceExhausted,
            "the answer would hold the identifiers of \(count) objects, and "
                + "\(Limits.affectedIdentifiersMax) are the most",
            hint: "ask for their number only, or change fewer objects at once")
    }

    /// The object that an identifier among the arguments means: an insert may have become an
    /// update.
    private func meant(_ identifier: PersistentIdentifier) -> PersistentIdentifier {
        guard !redirects.isEmpty, let key = identifier.permanentKey,
            let entity = schema.number(of: identifier.entityName),
            let object = redirects[ObjectKey(entity: entity, key: key)]
        else { return identifier }
        return self.identifier(of: object)
    }

    private func selected(
        by sql: SQL, _ columns: [ResolvedQuery.OutputColumn]
    ) throws(SQLiteError) -> SelectedObjects? {
        var selected = try SelectedObjects(valueCount: columns.count - 1, statements)
        let connection = statements.connection
        connection.setBudget(budget)
        defer { connection.setBudget(nil) }
        do throws(SQLiteError) {
            let query = try connection.prepare(sql.text)
            try query.bind(sql.bindings)
            var row = [SQLBinding](repeating: .null, count: columns.count)
            while try query.step() {
                for place in columns.indices { row[place] = query.value(at: place) }
                connection.limit.isSuspended = true
                try selected.append(row)
                connection.limit.isSuspended = false
            }
            return selected
        } catch {
            if connection.stopReason != nil {
                throw SQLiteError(extendedCode: SQLITE_INTERRUPT, message: error.message)
            }
            guard let reason = functionFaults.take() ?? error.queryLimit else { throw error }
            fault(reason)
            return nil
        }
    }

    // MARK: What they become

    private func apply(_ update: ObjectsUpdate, _ row: Statement) throws(SQLiteError) {
        let object = try object(update.entity.number, row.int64(at: 0))
        guard let values = try values(update, row, object) else { return }
        let bumpsVersion = noteBump(of: object)
        if !values.attributes.isEmpty {
            for (place, value) in values.attributes.enumerated()
            where row.value(at: update.was[place]) != value.value {
                changes.update(object, .attribute(value.attribute))
            }
            try store(
                values.attributes, of: object, bumpsVersion ? update.bumping : update.plain)
        } else if bumpsVersion {
            try update.bumping.run([.integer(object.key)])
        }
        for assignment in values.assignments { try assign(assignment, to: object) }
    }

    /// nil where a value is a fault.
    private func values(
        _ update: ObjectsUpdate, _ row: Statement, _ object: ObjectKey
    ) throws(SQLiteError) -> PlannedValues? {
        var values = PlannedValues()
        do throws(LarderError) {
            for (attribute, content) in update.attributes {
                values.attributes.append((attribute, try stored(content, row, attribute, update)))
            }
            for (relationship, content) in update.relationships {
                let targets = try targets(content, row, schema.relationships[relationship])
                values.assignments.append(
                    Assignment(relationship: relationship, targets: targets))
            }
        } catch {
            fault(placed(error, at: object))
            return nil
        }
        for (place, (number, content)) in update.relationships.enumerated() {
            guard case .computed = content else { continue }
            var targets: [Assignment.Target] = []
            for target in values.assignments[place].targets {
                let object = try self.object(
                    schema.relationships[number].destinationNumber, target.key)
                targets.append(Assignment.Target(object: object, insertedBy: nil))
            }
            values.assignments[place] = Assignment(relationship: number, targets: targets)
        }
        return values
    }

    private func stored(
        _ content: PlannedAssignment.Content, _ row: Statement, _ number: Int,
        _ update: ObjectsUpdate
    ) throws(LarderError) -> SQLBinding {
        switch content {
        case .attribute(let stored): return stored
        case .relationship: preconditionFailure("an attribute takes values")
        case .computed(let column, let type):
            let attribute = update.entity.attributes[number]
            guard case .attribute(let type) = type,
                let value = row.value(at: column).value(computedAs: type)
            else {
                throw LarderError(
                    .wrongType,
                    "\(attribute.qualifiedName) takes \(attribute.attribute.type.nounWithArticle), "
                        + "and what was computed is none")
            }
            return try self.values.stored(value, attribute)
        }
    }

    private func targets(
        _ content: PlannedAssignment.Content, _ row: Statement, _ relationship: StoredRelationship
    ) throws(LarderError) -> [Assignment.Target] {
        switch content {
        case .relationship(let targets): return targets
        case .attribute: preconditionFailure("a relationship takes objects")
        case .computed(let column, _):
            guard row.isNull(at: column) else {
                // Of which entity it is, is looked up when all is known to be sound.
                let object = ObjectKey(
                    entity: relationship.destinationNumber, key: row.int64(at: column))
                return [Assignment.Target(object: object, insertedBy: nil)]
            }
            guard !relationship.isRequired else {
                throw LarderError(
                    relationship.fault(
                        .missingValue, "\(relationship.qualifiedName) is required", .optional))
            }
            return []
        }
    }

    /// The fault of a single value, with the object that was to have it.
    private func placed(_ error: LarderError, at object: ObjectKey) -> LarderError {
        var fault = error.details.first ?? ChangeFault(error.code, error.message)
        let whose = isInserted(object) ? "an inserted object" : uri(of: object)
        fault.message += ", in \(whose)"
        fault.uri = isInserted(object) ? nil : uri(of: object)
        return LarderError(fault, hint: error.hint)
    }

    /// Looks for combinations of values that others have, once all objects have theirs.
    private func noteCombinations(
        _ update: ObjectsUpdate, _ selected: SelectedObjects
    ) throws(SQLiteError) {
        let numbers = update.attributes.map(\.attribute)
        let hasHeirs = update.entity.hasSubentities
        guard !update.combinations.isEmpty || hasHeirs, !faults.isFull else { return }
        let keys = try selected.keys()
        defer { keys.reset() }
        while try keys.step() {
            try checkTime()
            let object = try self.object(update.entity.number, keys.int64(at: 0))
            guard hasHeirs else {
                try noteUnique(object, in: update.combinations)
                continue
            }
            // An entity may constrain what it inherits.
            let own = schema.entities[object.entity]
            try noteUnique(
                object,
                in: own.constraints(over: numbers).filter { own.constraints[$0].aside == nil })
        }
    }
}

/// An update of many objects in the same properties, with its statements.
struct ObjectsUpdate {
    let entity: StoredEntity
    /// In the order of the entity's attributes, and of its relationships.
    let attributes: [(attribute: Int, content: PlannedAssignment.Content)]
    let relationships: [(relationship: Int, content: PlannedAssignment.Content)]
    /// For each attribute the column of the selection with its value as it was.
    let was: [Int]
    let bumping: Statement
    let plain: Statement
    /// Columns that are unique by themselves and get a value of its own in each object: the values
    /// are taken from all before they are given anew.
    let uniqueColumns: [String]
    /// Constraints over several properties of which one is assigned.
    let combinations: [Int]

    init(
        _ assignments: [PlannedAssignment], _ entity: StoredEntity, _ statements: StatementCache
    ) throws(SQLiteError) {
        var attributes: [(attribute: Int, content: PlannedAssignment.Content, was: Int)] = []
        var relationships: [(relationship: Int, content: PlannedAssignment.Content)] = []
        for assignment in assignments {
            switch assignment.place {
            case .attribute(let number):
                guard let was = assignment.was else { preconditionFailure("attributes are read") }
                attributes.append((number, assignment.content, was))
            case .relationship(let number): relationships.append((number, assignment.content))
            }
        }
        attributes.sort { $0.attribute < $1.attribute }
        let numbers = attributes.map(\.attribute)
        let constraints = entity.constraints(over: numbers)
        self.entity = entity
        self.attributes = attributes.map { ($0.attribute, $0.content) }
        self.relationships = relationships.sorted { $0.relationship < $1.relationship }
        was = attributes.map(\.was)
        let texts = entity.rows[numbers]
        bumping = try statements.statement(
            numbers.isEmpty ? entity.bump : texts.updateBumping)
        plain = try statements.statement(numbers.isEmpty ? entity.bump : texts.update)
        uniqueColumns = attributes.compactMap { attribute, content, _ in
            guard case .computed = content,
                constraints.contains(where: { entity.constraints[$0].aside == attribute })
            else { return nil }
            return entity.attributes[attribute].column
        }
        combinations = constraints.filter { entity.constraints[$0].aside == nil }
    }
}

extension SQLBinding {
    /// What an expression of this type came to; nil if that is not of the type.
    fileprivate func value(computedAs type: AttributeType) -> Value? {
        switch (type, self) {
        case (.float, .integer(let integer)), (.double, .integer(let integer)):
            .double(Double(integer))
        case (.date, .integer(let integer)): SQLBinding.real(Double(integer)).value(of: .date)
        case (.float, .real(let real)): .double(real)
        default: value(of: type)
        }
    }
}
