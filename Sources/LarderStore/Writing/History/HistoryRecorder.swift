import LarderModel
import LarderSQL

/// Records which values a change set changes, and writes its transaction into the history when the
/// set is done.
struct HistoryRecorder {
    let context: ChangeContext
    /// The number of the set's transaction.
    let transaction: Int64

    // MARK: - While the set runs

    /// Records those attributes whose new values differ from the stored ones.
    ///
    /// - Returns: The version of the object; nil if it is not stored.
    func recordChanges(
        _ values: [(attribute: Int, value: SQLValue)], of object: ObjectKey
    ) throws(SQLiteError) -> Int64? {
        guard !values.isEmpty else { return try context.version(of: object) }
        let entity = context.schema.entities[object.entity]
        let statement = try context.statements.statement(
            entity.rows[values.map(\.attribute)].read)
        defer { statement.reset() }
        try statement.bind(integer: object.key, at: 1)
        guard try statement.step() else { return nil }
        if !context.isInserted(object) {
            for (column, (attribute, value)) in values.enumerated()
            where !statement.holds(value, at: column) {
                context.changes.update(object, .attribute(attribute))
                if entity.recordsValues {
                    try recordFormer(statement.value(at: column), attribute, of: object)
                }
            }
        }
        return statement.int64(at: values.count)
    }

    /// Records the value of an attribute before the set.
    func recordFormer(
        _ value: SQLValue, _ attribute: Int, of object: ObjectKey
    ) throws(SQLiteError) {
        let entity = context.schema.entities[object.entity]
        guard entity.recordsValues, !context.isInserted(object) else { return }
        try context.formerValues.record(
            value, of: entity.attributes[attribute].attribute.name, object, context)
    }

    /// Copies the values that the history keeps, before an object is deleted.
    ///
    /// - Parameter uniqueness: The values that are deferred are not in the row.
    func preserveValues(
        of object: ObjectKey, _ uniqueness: UniquenessCheck
    ) throws(SQLiteError) {
        guard !context.isInserted(object) else { return }
        let entity = context.schema.entities[object.entity]
        guard !entity.recordsValues else { return try recordAll(of: object, entity, uniqueness) }
        for (attribute, text) in entity.preservedAttributes {
            let deferred = uniqueness.deferredValue(of: attribute, of: object, entity)
            try context.statements.statement(text).run([
                .integer(transaction), .integer(object.key), deferred ?? .null,
            ])
        }
    }

    /// Records all attributes and to-ones of an object before the set.
    private func recordAll(
        of object: ObjectKey, _ entity: StoredEntity, _ uniqueness: UniquenessCheck
    ) throws(SQLiteError) {
        let recorded = entity.attributes.indices.filter {
            let attribute = entity.attributes[$0].attribute
            return !attribute.isDerived || attribute.preservesValueOnDeletion
        }
        let statement = try context.statements.statement(entity.rows[recorded].read)
        defer { statement.reset() }
        try statement.bind(integer: object.key, at: 1)
        // A key that the rule `noAction` left has no row.
        guard try statement.step() else { return }
        for (column, attribute) in recorded.enumerated() {
            let value = statement.value(at: column)
            let deferred =
                value == .null
                ? uniqueness.deferredValue(of: attribute, of: object, entity) : nil
            try recordFormer(deferred ?? value, attribute, of: object)
        }
        for number in entity.relationshipNumbers {
            let relationship = context.schema.relationships[number]
            guard case .own(let column) = relationship.storage else { continue }
            let key = try context.integer(column.held, object.key)
            try context.formerValues.record(key, in: relationship, of: object, context)
        }
    }

    // MARK: - At the end

    /// Writes the transaction of the set.
    ///
    /// - Parameter time: Seconds since 2001.
    /// - Returns: False if the set changed nothing, which leaves no transaction.
    func write(
        _ source: ChangeSource, author: String, time: Double, _ statement: TransactionStatement
    ) throws(SQLiteError) -> Bool {
        try removeMissing()
        let runs = context.changes.runs
        guard let first = runs.first else { return false }
        try statement.run(
            transaction, first, context.schema, source: source, author: author, time: time)
        guard runs.count > 1 else { return true }
        let several = (runs.count - 1) / Layout.changesAtOnce * Layout.changesAtOnce
        try writeChanges(
            runs, 1..<1 + several, Layout.insertSeveralChanges, atOnce: Layout.changesAtOnce)
        try writeChanges(runs, 1 + several..<runs.count, Layout.insertChange, atOnce: 1)
        return true
    }

    /// - Parameter count: The number of runs that one execution of the statement inserts.
    private func writeChanges(
        _ runs: [ChangeRun], _ indices: Range<Int>, _ text: SQL, atOnce count: Int
    ) throws(SQLiteError) {
        guard !indices.isEmpty else { return }
        let statement = try context.statements.statement(text)
        try statement.bind(integer: transaction, at: 1)
        for start in stride(from: indices.lowerBound, to: indices.upperBound, by: count) {
            try context.checkBudget()
            for index in start..<start + count {
                let bound = start == indices.lowerBound ? nil : runs[index - count]
                let parameter = 2 + (index - start) * Layout.changeParameterCount
                try statement.bind(integer: Int64(index), at: parameter)
                try runs[index].bind(
                    to: statement, from: parameter + 1, replacing: bound, context.schema)
            }
            try statement.run()
        }
    }

    /// Removes recorded changes of objects that do not exist. A key that the rule `noAction` left
    /// leads to such an object, and the change of the key is not a change of the object.
    private func removeMissing() throws(SQLiteError) {
        for number in context.schema.noActionNumbers {
            let entity = context.schema.relationships[number].entityNumber
            for key in context.changes.keys(changedIn: .relationship(number), of: entity) {
                let object = ObjectKey(entity: entity, key: key)
                if try context.version(of: object) == nil { context.changes.remove(object) }
            }
        }
    }
}
