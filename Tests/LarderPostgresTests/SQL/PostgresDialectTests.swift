import LarderModel
import LarderQuery
import LarderSQL
import Testing

@Suite("The SQL of PostgreSQL")
struct PostgresDialectTests {
    private func finished(_ sql: SQL) -> String { SQLDialect.postgres.finished(sql).text }

    @Test("Parameters have numbers, and equal parameters have one number")
    func numbers() {
        let (one, two) = (SQLValue.integer(1), SQLValue.text("two"))
        let sql: SQL = "SELECT \(one), \(two), \(one) WHERE \(two) = \(SQLValue.null)"
        #expect(finished(sql) == "SELECT $1, $2, $1 WHERE $2 = $3")
        let parameters = SQLDialect.postgres.finished(sql).parameters
        #expect(parameters == [.constant(one), .constant(two), .constant(.null)])
        #expect(SQLDialect.sqlite.finished(sql) == sql)
    }

    @Test("A number that is written stays, and the next parameter has the number after it")
    func explicitNumbers() {
        #expect(finished("VALUES (?1, ?, ?, ?2)") == "VALUES ($1, $2, $3, $2)")
        #expect(finished("SELECT ?12, ?") == "SELECT $12, $13")
    }

    @Test("A question mark in a literal or a name is no parameter")
    func quotations() {
        let sql: SQL = "SELECT '?', 'it''s ?', \(name: "a?"), ?"
        #expect(finished(sql) == "SELECT '?', 'it''s ?', \"a?\", $1")
    }

    @Test("A name of up to 63 bytes stays, and a longer one has a hash of the whole at its end")
    func names() {
        let longest = String(repeating: "a", count: 63)
        #expect(PostgresName.shortened(longest) == longest)
        let (one, other) = (longest + "b", longest + "c")
        let shortened = PostgresName.shortened(one)
        #expect(shortened.utf8.count == 63)
        #expect(shortened.hasPrefix(String(repeating: "a", count: 46) + "~"))
        #expect(shortened != PostgresName.shortened(other))
        let sql: SQL = "SELECT \(name: one)"
        #expect(finished(sql) == "SELECT \"\(shortened)\"")
        #expect(finished("SELECT \(literal: one)") == "SELECT '\(one)'")
    }

    @Test("A computed text may be the lower bound of BETWEEN, before which no COLLATE may be")
    func lowerBound() throws {
        let schema = try SchemaFile.schema(
            parsing: """
                { "version": "1.0.0", "entities": [ { "name": "A", "attributes": [
                  { "name": "b", "type": "string" }, { "name": "c", "type": "string" } ] } ] }
                """)
        let converter = ValueConverter(
            storeIdentifier: .init(), schema: schema, dialect: .postgres)
        let query = Fetch(
            "A", where: .format("b BETWEEN {TERNARY(b == 'x', b, c), 'z'}"),
            selection: .identifiers)
        let plan = try QueryPlanner(
            layout: Layout(schema, dialect: .postgres), converter: converter
        ).plan(.fetch(query), QueryParameters())
        let statements = try plan.statements(QueryParameters(), Conversions(NoLimit()))
        let bound = #"((CASE WHEN t0."b" = $1 THEN t0."b" ELSE t0."c" END) COLLATE "C")"#
        #expect(statements[0].text.contains(#"t0."b" BETWEEN \#(bound) AND $2"#))
    }

    @Test("Nil is before all values in ascending order, whatever the database does itself")
    func order() throws {
        let schema = try SchemaFile.schema(
            parsing: """
                { "version": "1.0.0", "entities": [ { "name": "A", "attributes": [
                  { "name": "b", "type": "int64", "optional": true } ] } ] }
                """)
        func sql(_ dialect: SQLDialect, _ key: SortKey) throws -> String {
            let layout = Layout(schema, dialect: dialect)
            let converter = ValueConverter(
                storeIdentifier: .init(), schema: schema, dialect: dialect)
            let plan = try QueryPlanner(layout: layout, converter: converter).plan(
                .fetch(Fetch("A", sort: [key], selection: .identifiers)), QueryParameters())
            let statements = try plan.statements(QueryParameters(), Conversions(NoLimit()))
            return String(statements[0].text.split(separator: "ORDER BY ")[1])
        }
        var key = SortKey("b")
        #expect(try sql(.sqlite, key) == "t0.\"b\", t0.\"_id\"")
        #expect(try sql(.postgres, key) == "t0.\"b\" NULLS FIRST, t0.\"_id\"")
        key.nilPlacement = .last
        #expect(try sql(.sqlite, key) == "t0.\"b\" NULLS LAST, t0.\"_id\"")
        #expect(try sql(.postgres, key) == "t0.\"b\", t0.\"_id\"")
        key.isDescending = true
        #expect(try sql(.postgres, key) == "t0.\"b\" DESC NULLS LAST, t0.\"_id\"")
        key.nilPlacement = .first
        #expect(try sql(.postgres, key) == "t0.\"b\" DESC, t0.\"_id\"")
    }

    private final class NoLimit: ConversionLimit {
        var isStopped: Bool { false }
        func allowsConversion(ofBytes count: Int) -> Bool { true }
        func allowsMoreStatements() -> Bool { true }
    }
}
