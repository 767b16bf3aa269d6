#if PostgreSQL
import Foundation
import LarderModel
import LarderQuery
import QueryScripts

@testable import LarderPostgres
@testable import LarderSQL

/// A store in PostgreSQL, its writer, and a connection that reads its tables.
final class PostgresLibrary: WrittenStore {
    let name: String
    let store: PostgresStore
    let storeWriter: any StoreWriter
    let connection: PostgresConnection

    var backend: any StoreBackend { store }

    /// - Parameter name: The schema of the database with the store; nil creates one.
    init(_ schema: Schema?, named name: String? = nil) throws {
        self.name = name ?? StoreInPostgres.newSchemaName()
        store = try StoreInPostgres.open(
            schema, named: self.name, clock: StoreInPostgres.clock)
        storeWriter = try store.makeWriter()
        connection = try PostgresServer.connection()
        try connection.run("SET search_path = \(self.name), pg_catalog")
    }

    func rows(_ sql: SQL, _ values: PostgresValue...) throws -> [[SQLValue]] {
        let text = SQLDialect.postgres.finished(sql).text
        return try connection.run(PostgresStatement(text, values), deadline: .soon).rows
            .map { $0.map(SQLValue.init) }
    }

    func runs(of transaction: Int64) throws -> [HistoryRun] {
        try rows(
            """
            SELECT kind, entity, first_key, last_key, properties FROM \(Layout.everyChange) AS c \
            WHERE transaction_number = ?1 ORDER BY place
            """, .integer(transaction)
        ).compactMap { row in
            guard let kind = row[0].int64.flatMap(HistoryRun.Kind.init), let name = row[1].string,
                let first = row[2].int64, let last = row[3].int64
            else { return nil }
            return HistoryRun(
                kind, name, first...last,
                properties: (row[4].string ?? "").split(separator: ",").map(String.init))
        }
    }
}

/// The rows of the tables that stores in both databases have.
enum StoreContents {
    typealias Rows = [String: [[SQLValue]]]

    /// - Parameter read: Runs a query that both databases understand.
    static func rows(
        of layout: Layout, _ read: (SQL) throws -> [[SQLValue]]
    ) rethrows -> Rows {
        var rows: Rows = [:]
        for root in layout.roots {
            let columns = layout.columns(of: root).map(\.name).sorted()
            rows[root.name] = try read(
                "SELECT \(names: columns) FROM \(name: root.name) ORDER BY \(name: "_id")")
        }
        for table in layout.joinTables {
            let columns = ["source", "target"] + table.positionColumns.sorted()
            rows[table.name] = try read(
                "SELECT \(names: columns) FROM \(name: table.name) ORDER BY 1, 2")
        }
        let run = ["kind", "entity", "first_key", "last_key", "properties"]
        rows["_transaction"] = try read(
            """
            SELECT \(names: ["number", "time", "author", "client", "user", "process"] + run) \
            FROM \(name: Layout.transactionTable) ORDER BY 1
            """)
        rows["_change"] = try read(
            """
            SELECT \(names: ["transaction_number", "place"] + run) \
            FROM \(name: Layout.changeTable) ORDER BY 1, 2
            """)
        let preserved = ["transaction_number", "entity", "key", "property", "value"]
        rows["_preserved"] = try read(
            "SELECT \(names: preserved) FROM \(name: Layout.preservedTable) ORDER BY 1, 2, 3, 4"
        ).map { row in
            row.dropLast() + [recorded(row[4], row[1], row[3], layout.schema)]
        }
        let outcome = [
            "user", "key", "user_number", "digest", "time", "transaction_number", "inserted",
            "versions", "deleted", "merged", "affected",
        ]
        rows["_outcome"] = try read(
            "SELECT \(names: outcome) FROM \(name: Layout.outcomeTable) ORDER BY 1, 2")
        return rows
    }

    /// A value of the history as PostgreSQL has it, with numbers in one form.
    private static func recorded(
        _ value: SQLValue, _ entity: SQLValue, _ property: SQLValue, _ schema: Schema
    ) -> SQLValue {
        let type = schema.entity(named: entity.string ?? "")?.attributes.first {
            $0.name == property.string
        }?.type
        switch (SQLDialect.postgres.recorded(value), type) {
        case (.integer(let integer), _): return .text(String(integer))
        case (.text(let text), .float?): return .real(Double(Float(text) ?? .nan))
        case (.text(let text), .double?), (.text(let text), .date?):
            return .real(Double(text) ?? .nan)
        case (let other, _): return other
        }
    }
}
#endif
