import FoundationEssentials
import LarderModel
import LarderQuery
import QueryScripts
import Testing

@testable import LarderSQL
@testable import LarderStore

typealias Faculty = QueryScripts.Faculty
typealias Lists = QueryScripts.Lists

/// A store with one relationship of each kind, its writer, and a connection that reads its tables.
final class Library {
    let store: Store
    let writer: Writer
    let readConnection: Connection

    /// - Parameter path: The file of the store; nil for a store in memory.
    init(schema: Schema? = nil, path: String? = nil) throws {
        let schema = try schema ?? Library.schema()
        store =
            try path.map { try Store.open(path: $0, schema: schema) }
            ?? Store.inMemory(schema: schema)
        writer = try #require(try store.makeWriter() as? Writer)
        readConnection = try store.openReadConnection()
    }

    static func schema() throws -> Schema { try Publishing.schema() }

    // MARK: - Writing

    func save(_ changes: Change...) -> Result<SaveResult, LarderError> {
        writer.save([ChangeSet(changes)])[0]
    }

    /// Saves changes that must succeed.
    @discardableResult
    func saved(_ changes: Change...) throws -> SaveResult {
        try writer.save([ChangeSet(changes)])[0].get()
    }

    /// The error of changes that must fail without changing anything.
    func refusal(_ changes: Change...) throws -> LarderError {
        let before = try contents()
        let outcome = writer.save([ChangeSet(changes)])[0]
        #expect(try contents() == before)
        guard case .failure(let error) = outcome else {
            Issue.record("the change set was saved")
            return LarderError(.indeterminate, "")
        }
        return error
    }

    @discardableResult
    func insert(
        _ entityName: String, _ values: [String: Value] = [:]
    ) throws -> PersistentIdentifier {
        let result = try saved(.insert(.new("x", entityName), values: values))
        return try #require(result.inserted.first)
    }

    func identifier(_ entityName: String, _ key: Int64) -> PersistentIdentifier {
        PersistentIdentifier(
            store: store.storeDescription.identifier, entityName: entityName, key: key)
    }

    // MARK: - Reading

    /// All rows of all tables.
    func contents() throws -> [[SQLValue]] {
        let tables = try rows(
            """
            SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> '_larder' \
            AND sql NOT LIKE 'CREATE VIRTUAL%' ORDER BY 1
            """)
        return try tables.flatMap { table -> [[SQLValue]] in
            guard case .text(let name) = table[0] else { return [] }
            return try [table] + rows("SELECT * FROM \(name: name) ORDER BY 1, 2")
        }
    }

    func rows(_ sql: SQL, _ values: [SQLValue] = []) throws -> [[SQLValue]] {
        let statement = try readConnection.prepare(sql)
        try statement.bind(values)
        var rows: [[SQLValue]] = []
        while try statement.step() {
            rows.append((0..<statement.columnCount).map { statement.value(at: $0) })
        }
        return rows
    }

    /// The changes of a transaction in the history, in the order of its rows.
    func history(_ transaction: Int64) throws -> [RecordedChange] {
        try rows(
            """
            SELECT kind, entity, first_key, last_key, properties FROM \(Layout.everyChange)
            WHERE transaction_number = ? ORDER BY place
            """, [.integer(transaction)]
        ).map { row in try #require(RecordedChange(row)) }
    }

    func count(_ entityName: String) throws -> Int64 {
        try #require(try readConnection.integer("SELECT count(*) FROM \(name: entityName)"))
    }

    /// An attribute of an object that exists.
    func value(_ object: PersistentIdentifier, _ attribute: String) throws -> SQLValue {
        let entity = try #require(store.layout.schema.entity(named: object.entityName))
        let table = store.layout.table(for: entity)
        let rows = try rows(
            "SELECT \(name: attribute) FROM \(name: table) WHERE _id = ?",
            [.integer(try #require(object.permanentKey))])
        return try #require(rows.first)[0]
    }

    func version(_ object: PersistentIdentifier) throws -> Int64? {
        guard case .integer(let version) = try value(object, "_version") else { return nil }
        return version
    }

    /// The keys of a relationship's destinations, in list order.
    func keys(_ object: PersistentIdentifier, _ name: String) throws -> [Int64] {
        let entity = try #require(store.layout.schema.entity(named: object.entityName))
        let relationship = try #require(entity.relationships.first { $0.name == name })
        let sql: SQL =
            switch store.layout.link(for: relationship, of: entity) {
            case .column(let table, let column):
                "SELECT \(name: column) FROM \(name: table) "
                    + "WHERE _id = ? AND \(name: column) IS NOT NULL"
            case .inverseColumn(let table, let column, let position):
                "SELECT _id FROM \(name: table) WHERE \(name: column) = ? "
                    + "ORDER BY \(name: position ?? "_id")"
            case .join(let table, let own, let other, let position):
                "SELECT \(name: other) FROM \(name: table) "
                    + "WHERE \(name: own) = ? ORDER BY \(name: position ?? other)"
            }
        return try rows(sql, [.integer(try #require(object.permanentKey))]).compactMap { row in
            if case .integer(let key) = row[0] { key } else { nil }
        }
    }

    func keys(_ objects: [PersistentIdentifier]) -> [Int64] { objects.compactMap(\.permanentKey) }
}
