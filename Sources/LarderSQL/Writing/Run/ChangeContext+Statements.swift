import LarderModel

// Reads that the rules have in common.
extension ChangeContext {
    /// The first row; nil if there is none.
    func row(_ text: SQL, _ values: [SQLValue]) throws(SQLError) -> [SQLValue]? {
        var first: [SQLValue]?
        try session.rows(text, values) { row in
            // A copy, because the session uses the array again.
            first = row.map { $0 }
            return false
        }
        return first
    }

    /// The first column of the first row; nil if there is no row or the column is nil.
    func integer(_ text: SQL, _ key: Int64) throws(SQLError) -> Int64? {
        try self.key(text, [.integer(key)])
    }

    /// The first column of the first row; nil if there is no row.
    func value(_ text: SQL, _ key: Int64) throws(SQLError) -> SQLValue? {
        var value: SQLValue?
        try session.rows(text, [.integer(key)]) { row in
            value = row[0]
            return false
        }
        return value
    }

    func hasRow(_ text: SQL, _ key: Int64) throws(SQLError) -> Bool {
        try value(text, key) != nil
    }

    /// The first column of every row. All rows are read before it returns, so that the caller may
    /// change them.
    func keys(_ text: SQL, _ key: Int64) throws(SQLError) -> [Int64] {
        var keys: [Int64] = []
        try session.rows(text, [.integer(key)]) { row in
            if let key = row[0].int64 { keys.append(key) }
            return true
        }
        return keys
    }

    /// The key in the first row of a statement with these bindings.
    package func key(_ text: SQL, _ bindings: [SQLValue]) throws(SQLError) -> Int64? {
        var key: Int64?
        try session.rows(text, bindings) { row in
            key = row[0].int64
            return false
        }
        return key
    }

    /// The version of an object; nil if it is not stored.
    func version(of object: ObjectKey) throws(SQLError) -> Int64? {
        try integer(schema.entities[object.entity].version, object.key)
    }

    /// Returns whether the object with the target's key is of the target's entity. An object cannot
    /// be named through another entity of its table.
    func hasNamedEntity(_ target: Assignment.Target) throws(SQLError) -> Bool {
        guard schema.entities[target.object.entity].sharesTable else { return true }
        return try version(of: target.object) != nil
    }

    /// Returns whether the target of a relationship exists, and adds an error if it does not.
    func checkExists(_ target: Assignment.Target) throws(SQLError) -> Bool {
        if !deleted.contains(target.object) {
            // An object that the set inserts exists at the end of the set.
            if target.insertedBy != nil { return true }
            if try version(of: target.object) != nil { return true }
        }
        add(notFound(target.object))
        return false
    }

    /// The keys of the objects to which a relationship leads.
    func destinations(
        of object: ObjectKey, _ relationship: StoredRelationship
    ) throws(SQLError) -> [Int64] {
        switch relationship.storage {
        case .own(let column): return try integer(column.held, object.key).map { [$0] } ?? []
        case .inverse(let holder):
            guard case .own(let column) = schema.relationships[holder].storage else { return [] }
            return try keys(column.holders, object.key)
        case .join(let table): return try keys(table.others, object.key)
        }
    }
}
