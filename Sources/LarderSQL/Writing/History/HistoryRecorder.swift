import LarderModel

/// Records which values a change set changes, and finds the runs of its transaction in the history
/// when the set is done.
package struct HistoryRecorder {
    let context: ChangeContext
    /// The number of the set's transaction.
    let transaction: Int64

    // MARK: - While the set runs

    /// Records those attributes whose new values differ from the stored ones.
    ///
    /// - Parameter statements: The statements for these attributes, of which there is at least one.
    /// - Returns: The version of the object; nil if it is not stored.
    func recordChanges(
        _ values: [(attribute: Int, value: SQLValue)], of object: ObjectKey,
        _ statements: RowStatements
    ) throws(SQLError) -> Int64? {
        var version: Int64?
        try context.session.rows(
            statements.read, [.integer(object.key)]
        ) { (row) throws(SQLError) in
            version = row[values.count].int64
            guard !context.isInserted(object) else { return false }
            for (column, (attribute, value)) in values.enumerated() where row[column] != value {
                context.changes.update(object, .attribute(attribute))
                try recordFormer(row[column], attribute, of: object)
            }
            return false
        }
        return version
    }

    /// Records the value of an attribute before the set.
    func recordFormer(
        _ value: SQLValue, _ attribute: Int, of object: ObjectKey
    ) throws(SQLError) {
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
    ) throws(SQLError) {
        guard !context.isInserted(object) else { return }
        let entity = context.schema.entities[object.entity]
        guard !entity.recordsValues else { return try recordAll(of: object, entity, uniqueness) }
        for (attribute, text) in entity.preservedAttributes {
            let deferred = uniqueness.deferredValue(of: attribute, of: object, entity)
            try context.session.run(
                text, [.integer(transaction), .integer(object.key), deferred ?? .null])
        }
    }

    /// Records all attributes and to-ones of an object before the set.
    private func recordAll(
        of object: ObjectKey, _ entity: StoredEntity, _ uniqueness: UniquenessCheck
    ) throws(SQLError) {
        let recorded = entity.attributes.indices.filter {
            let attribute = entity.attributes[$0].attribute
            return !attribute.isDerived || attribute.preservesValueOnDeletion
        }
        // A key that the rule `noAction` left has no row.
        guard let row = try context.row(entity.rows[recorded].read, [.integer(object.key)])
        else { return }
        for (attribute, value) in zip(recorded, row) {
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

    /// The runs of the set's transaction; none if it changed nothing, which leaves no transaction.
    package func runs() throws(SQLError) -> [ChangeRun] {
        try removeMissing()
        return context.changes.runs
    }

    /// Removes recorded changes of objects that do not exist. A key that the rule `noAction` left
    /// leads to such an object, and the change of the key is not a change of the object.
    private func removeMissing() throws(SQLError) {
        for number in context.schema.noActionNumbers {
            let entity = context.schema.relationships[number].entityNumber
            for key in context.changes.keys(changedIn: .relationship(number), of: entity) {
                let object = ObjectKey(entity: entity, key: key)
                if try context.version(of: object) == nil { context.changes.remove(object) }
            }
        }
    }
}
