import Testing

@testable import LarderSQL
@testable import LarderStore

@Suite("SQL")
struct SQLTests {
    @Test("an SQL value is text with names, literals and parameters")
    func interpolation() {
        let sql: SQL = """
            SELECT \(name: "a \"b\""), \(literal: "it's"), \(function: "abs")(\(7)) \
            FROM t WHERE c = \(.constant(.text("x'y")))
            """
        #expect(sql.text == #"SELECT "a ""b""", 'it''s', abs(7) FROM t WHERE c = ?"#)
        #expect(sql.values == [.text("x'y")])
    }

    @Test("an SQL value keeps its parameters in order when it is composed")
    func composition() {
        let parts: [SQL] = ["a = \(SQLValue.integer(1))", "b = \(SQLValue.null)"]
        var sql: SQL = "SELECT \(SQLValue.real(0.5)) WHERE \(parts, separator: " AND ")"
        sql += " LIMIT \(SQLValue.integer(2))"
        #expect(sql.text == "SELECT ? WHERE a = ? AND b = ? LIMIT ?")
        #expect(sql.values == [.real(0.5), .integer(1), .null, .integer(2)])
        #expect(sql.inParentheses.depth == 1)
    }

    @Test("the identity of an SQL value depends on its text, not on its parameters")
    func identity() {
        let sql: SQL = "SELECT \(SQLValue.integer(1))"
        let other = sql.with([.constant(.integer(2))])
        #expect(other.identity == sql.identity)
        #expect(other != sql)
        #expect((sql + " ").identity != sql.identity)
    }
}
