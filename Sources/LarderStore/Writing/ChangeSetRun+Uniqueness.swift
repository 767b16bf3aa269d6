import LarderModel

extension ChangeSetRun {
    /// Makes a fault of a violated uniqueness constraint that names the object in the way; any
    /// other error is thrown on.
    ///
    /// - Parameter assigned: What the failed statement would have stored, by column.
    func reportUniqueness(
        _ error: SQLiteError, _ object: ObjectKey, assigned: [String: SQLBinding]
    ) throws(SQLiteError) {
        guard error.isUniquenessViolation,
            let (names, existing) = try violatedConstraint(object, assigned)
        else { throw error }
        let entity = schema.entities[object.entity].entity.name
        let properties = names.map { "\(entity).\($0)" }.joined(separator: " and ")
        // The key of an object that the set inserts will have named nothing once the set failed.
        if isInserted(existing) {
            fault(
                LarderError(
                    .uniquenessViolated,
                    "\(properties) must be unique, and another object of the set has the same"
                ))
            return
        }
        let uri = uri(of: existing)
        fault(
            LarderError(
                .uniquenessViolated, "\(properties) must be unique, and \(uri) has the same",
                hint: "update that object instead", uri: uri))
    }

    private func violatedConstraint(
        _ object: ObjectKey, _ assigned: [String: SQLBinding]
    ) throws(SQLiteError) -> (names: [String], existing: ObjectKey)? {
        let stored = schema.entities[object.entity]
        for names in stored.entity.uniquenessConstraints {
            let columns = names.compactMap { column(of: $0, in: stored) }
            var values: [SQLBinding] = []
            for column in columns {
                if let value = assigned[column] {
                    values.append(value)
                } else {
                    values.append(try self.value(of: column, object))
                }
            }
            // Nothing is the same as nil here: a constraint binds those that have a value.
            guard !values.contains(.null) else { continue }
            let conditions = columns.map { "\(SQL.quoted($0)) = ?" }.joined(separator: " AND ")
            let key = SQL.quoted(Layout.keyColumn)
            let statement = try statements.statement(
                "SELECT \(key) FROM \(SQL.quoted(stored.entity.name)) "
                    + "WHERE \(conditions) AND \(key) <> ? LIMIT 1")
            defer { statement.reset() }
            try statement.bind(values + [.integer(object.key)])
            if try statement.step() {
                return (names, ObjectKey(entity: object.entity, key: statement.int64(at: 0)))
            }
        }
        return nil
    }

    private func column(of name: String, in stored: StoredEntity) -> String? {
        switch stored.places[name] {
        case .attribute(let number): return stored.attributes[number].column
        case .relationship(let number):
            guard case .own(let column) = schema.relationships[number].storage else { return nil }
            return column.column
        case nil: return nil
        }
    }

    /// What a row holds now; nil for a row that is not there.
    private func value(of column: String, _ object: ObjectKey) throws(SQLiteError) -> SQLBinding {
        let table = SQL.quoted(schema.entities[object.entity].entity.name)
        let statement = try statements.statement(
            "SELECT \(SQL.quoted(column)) FROM \(table) WHERE \(SQL.quoted(Layout.keyColumn)) = ?")
        defer { statement.reset() }
        try statement.bind(.integer(object.key), at: 1)
        return try statement.step() ? statement.value(at: 0) : .null
    }
}
