import LarderModel
import LarderSQL

// Reads that the rules have in common.
extension ChangeContext {
    /// The first column of the first row; nil if there is no row or the column is nil.
    func integer(_ text: SQL, _ key: Int64) throws(SQLiteError) -> Int64? {
        let statement = try statements.statement(text)
        defer { statement.reset() }
        try statement.bind(.integer(key), at: 1)
        guard try statement.step(), !statement.isNull(at: 0) else { return nil }
        return statement.int64(at: 0)
    }

    /// The first column of the first row; nil if there is no row.
    func value(_ text: SQL, _ key: Int64) throws(SQLiteError) -> SQLValue? {
        let statement = try statements.statement(text)
        defer { statement.reset() }
        try statement.bind(.integer(key), at: 1)
        return try statement.step() ? statement.value(at: 0) : nil
    }

    func hasRow(_ text: SQL, _ key: Int64) throws(SQLiteError) -> Bool {
        let statement = try statements.statement(text)
        defer { statement.reset() }
        try statement.bind(.integer(key), at: 1)
        return try statement.step()
    }

    /// The first column of every row. All rows are read before it returns, so that the caller may
    /// change them.
    func keys(_ text: SQL, _ key: Int64) throws(SQLiteError) -> [Int64] {
        let statement = try statements.statement(text)
        defer { statement.reset() }
        try statement.bind(.integer(key), at: 1)
        var keys: [Int64] = []
        while try statement.step() { keys.append(statement.int64(at: 0)) }
        return keys
    }

    /// The key in the first row of a statement with these bindings.
    func key(_ text: SQL, _ bindings: [SQLValue]) throws(SQLiteError) -> Int64? {
        let statement = try statements.statement(text)
        defer { statement.reset() }
        try statement.bind(bindings)
        return try statement.step() ? statement.int64(at: 0) : nil
    }

    /// The version of an object; nil if it is not stored.
    func version(of object: ObjectKey) throws(SQLiteError) -> Int64? {
        try integer(schema.entities[object.entity].version, object.key)
    }

    /// Returns whether the object with the target's key is of the target's entity. An object cannot
    /// be named through another entity of its table.
    func hasNamedEntity(_ target: Assignment.Target) throws(SQLiteError) -> Bool {
        guard schema.entities[target.object.entity].sharesTable else { return true }
        return try version(of: target.object) != nil
    }

    /// Returns whether the target of a relationship exists, and adds an error if it does not.
    func checkExists(_ target: Assignment.Target) throws(SQLiteError) -> Bool {
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
    ) throws(SQLiteError) -> [Int64] {
        switch relationship.storage {
        case .own(let column): return try integer(column.held, object.key).map { [$0] } ?? []
        case .inverse(let holder):
            guard case .own(let column) = schema.relationships[holder].storage else { return [] }
            return try keys(column.holders, object.key)
        case .join(let table): return try keys(table.others, object.key)
        }
    }
}
