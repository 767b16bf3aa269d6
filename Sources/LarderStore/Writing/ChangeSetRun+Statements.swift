import LarderModel

extension ChangeSetRun {
    /// The first column of the first row; nil for no row or nil.
    func integer(_ text: String, _ key: Int64) throws(SQLiteError) -> Int64? {
        let statement = try statements.statement(text)
        defer { statement.reset() }
        try statement.bind(.integer(key), at: 1)
        guard try statement.step(), !statement.isNull(at: 0) else { return nil }
        return statement.int64(at: 0)
    }

    func hasRow(_ text: String, _ key: Int64) throws(SQLiteError) -> Bool {
        let statement = try statements.statement(text)
        defer { statement.reset() }
        try statement.bind(.integer(key), at: 1)
        return try statement.step()
    }

    /// The first column of every row: read to the end, so that the rows may then be changed.
    func keys(_ text: String, _ key: Int64) throws(SQLiteError) -> [Int64] {
        let statement = try statements.statement(text)
        defer { statement.reset() }
        try statement.bind(.integer(key), at: 1)
        var keys: [Int64] = []
        while try statement.step() { keys.append(statement.int64(at: 0)) }
        return keys
    }

    /// Keys with their positions, nil where there is none.
    func positionedKeys(
        _ text: String, _ key: Int64
    ) throws(SQLiteError) -> [(key: Int64, position: Int64?)] {
        let statement = try statements.statement(text)
        defer { statement.reset() }
        try statement.bind(.integer(key), at: 1)
        var keys: [(key: Int64, position: Int64?)] = []
        while try statement.step() {
            keys.append(
                (
                    statement.int64(at: 0),
                    statement.isNull(at: 1) ? nil : statement.int64(at: 1)
                ))
        }
        return keys
    }

    func identifier(of object: ObjectKey) -> PersistentIdentifier {
        PersistentIdentifier(
            store: store, entityName: schema.entities[object.entity].entity.name, key: object.key)
    }

    func uri(of object: ObjectKey) -> String { identifier(of: object).uriRepresentation }

    func missing(_ object: ObjectKey) -> LarderError {
        let uri = uri(of: object)
        return LarderError(.objectNotFound, "there is no object \(uri) (any more)", uri: uri)
    }

    /// Whether a relationship's target is there; a fault if not.
    func checkExists(
        _ target: Assignment.Target, _ relationship: StoredRelationship
    ) throws(SQLiteError) -> Bool {
        let object = ObjectKey(entity: relationship.destinationNumber, key: target.key)
        if !deleted.contains(object) {
            // One that the set inserts will be there at its end.
            if target.insertedBy != nil { return true }
            if try version(of: object) != nil { return true }
        }
        fault(missing(object))
        return false
    }
}
