import LarderModel

extension ChangeSetRun {
    /// The first column of the first row; nil for no row or nil.
    func integer(_ text: SQLText, _ key: Int64) throws(SQLiteError) -> Int64? {
        let statement = try statements.statement(text)
        defer { statement.reset() }
        try statement.bind(.integer(key), at: 1)
        guard try statement.step(), !statement.isNull(at: 0) else { return nil }
        return statement.int64(at: 0)
    }

    func hasRow(_ text: SQLText, _ key: Int64) throws(SQLiteError) -> Bool {
        let statement = try statements.statement(text)
        defer { statement.reset() }
        try statement.bind(.integer(key), at: 1)
        return try statement.step()
    }

    /// The first column of every row: read to the end, so that the rows may then be changed.
    func keys(_ text: SQLText, _ key: Int64) throws(SQLiteError) -> [Int64] {
        let statement = try statements.statement(text)
        defer { statement.reset() }
        try statement.bind(.integer(key), at: 1)
        var keys: [Int64] = []
        while try statement.step() { keys.append(statement.int64(at: 0)) }
        return keys
    }

    /// Keys with their positions, nil where there is none.
    func positionedKeys(
        _ text: SQLText, _ key: Int64
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

    /// The object of an entity, or of one below it, that has a key. What is not there (any more, or
    /// because of the rule `noAction`) counts as one of the entity itself.
    func object(_ entity: Int, _ key: Int64) throws(SQLiteError) -> ObjectKey {
        let stored = schema.entities[entity]
        guard stored.hasSubentities else { return ObjectKey(entity: entity, key: key) }
        let place = ObjectKey(entity: stored.rootNumber, key: key)
        if let kind = kinds[place] { return ObjectKey(entity: kind, key: key) }
        let statement = try statements.statement(stored.kind)
        defer { statement.reset() }
        try statement.bind(.integer(key), at: 1)
        guard try statement.step(), let kind = schema.number(of: statement.string(at: 0)) else {
            return ObjectKey(entity: entity, key: key)
        }
        kinds[place] = kind
        return ObjectKey(entity: kind, key: key)
    }

    /// Whether what has the target's key is of the target's entity: under the name of another one
    /// it is not meant. Asked only where there are others.
    func isNamed(_ target: Assignment.Target) throws(SQLiteError) -> Bool {
        guard schema.entities[target.object.entity].sharesTable else { return true }
        return try version(of: target.object) != nil
    }

    /// Objects may be linked to before they are stored.
    func noteKinds(ofInsertsIn set: PlannedChangeSet) {
        for case .insert(let insert)? in set.changes {
            let stored = schema.entities[insert.object.entity]
            guard stored.sharesTable else { continue }
            kinds[ObjectKey(entity: stored.rootNumber, key: insert.object.key)] = stored.number
        }
    }

    func identifier(of object: ObjectKey) -> PersistentIdentifier {
        PersistentIdentifier(
            store: store, entityName: schema.entities[object.entity].name, key: object.key)
    }

    func uri(of object: ObjectKey) -> String { identifier(of: object).uriRepresentation }

    func missing(_ object: ObjectKey) -> LarderError {
        let uri = uri(of: object)
        return LarderError(.objectNotFound, "there is no object \(uri) (any more)", uri: uri)
    }

    /// Whether a relationship's target is there; a fault if not.
    func checkExists(_ target: Assignment.Target) throws(SQLiteError) -> Bool {
        if !deleted.contains(target.object) {
            // One that the set inserts will be there at its end.
            if target.insertedBy != nil { return true }
            if try version(of: target.object) != nil { return true }
        }
        fault(missing(target.object))
        return false
    }
}
