import LarderModel
import Testing

@testable import LarderSQL
@testable import LarderStore

// A change context without a change set, for tests of single rules.
extension Library {
    /// Runs a body in a transaction that is rolled back.
    func withContext<Result>(_ body: (ChangeContext) throws -> Result) throws -> Result {
        let statements = try #require(writer.statements)
        try statements.connection.execute("BEGIN")
        defer { writer.rollBack() }
        let context = ChangeContext(
            writer.schema, store: store.storeDescription.identifier, session: statements,
            lastKeys: writer.lastKeys, writer.conversions,
            FormerValues(transaction: 1, store.formerValueCounters))
        return try body(context)
    }

    /// The key of an object by its entity in the schema.
    func object(_ identifier: PersistentIdentifier) throws -> ObjectKey {
        ObjectKey(
            entity: try #require(writer.schema.number(of: identifier.entityName)),
            key: try #require(identifier.permanentKey))
    }

    func target(_ identifier: PersistentIdentifier) throws -> Assignment.Target {
        Assignment.Target(object: try object(identifier), insertedBy: nil)
    }

    /// A relationship by its qualified name, such as `Team.players`.
    func relationship(_ name: String) throws -> StoredRelationship {
        try #require(writer.schema.relationships.first { $0.qualifiedName == name })
    }

    /// The number of an attribute by its qualified name.
    func attribute(_ name: String) throws -> Int {
        let entity = try #require(
            writer.schema.entities.first { name.hasPrefix("\($0.name).") })
        return try #require(entity.attributes.firstIndex { $0.qualifiedName == name })
    }
}

extension ChangeContext {
    /// Executes SQL in the transaction.
    func execute(_ sql: SQL) throws {
        try session.run(sql, [])
    }

    /// The first column of each row.
    func values(_ sql: SQL) throws -> [SQLValue] {
        var values: [SQLValue] = []
        try session.rows(sql, []) { row in
            values.append(row[0])
            return true
        }
        return values
    }

    /// The added errors, one line each: the index of the change, if any, and the code.
    var summary: [String] {
        let details = errors.error(changeCount: 2)?.details ?? []
        return details.map { "\($0.change.map { "\($0) " } ?? "")\($0.code.name)" }
    }
}
