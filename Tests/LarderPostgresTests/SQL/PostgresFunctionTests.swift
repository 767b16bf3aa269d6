#if PostgreSQL
import LarderModel
import LarderPostgres
import LarderQuery
import LarderSQL
import TestSupport
import Testing

@Suite(
    "The functions of a store in PostgreSQL",
    .enabled(if: PostgresServer.isInstalled, Comment(rawValue: PostgresServer.notInstalled)))
struct PostgresFunctionTests {
    private func connection() throws -> PostgresConnection {
        let connection = try PostgresServer.connection()
        let name = StoreInPostgres.newSchemaName()
        try connection.run("CREATE SCHEMA \(name)")
        try connection.run("SET search_path = \(name)")
        for function in PostgresFunction.all {
            try connection.run(SQLDialect.postgres.finished(function.createStatement).text)
        }
        return connection
    }

    @Test("larder_exact is exact: its digits are those of the double, for random bit patterns")
    func exact() throws {
        let connection = try connection()
        var generator = SeededGenerator.fromEnvironment("exact doubles")
        var doubles = [
            0, -0.0, 0.1, 1, -1.5, .pi, .greatestFiniteMagnitude, .leastNonzeroMagnitude,
            .leastNormalMagnitude, 0x1p53, 0x1p-52,
        ]
        for _ in 0..<300 { doubles.append(Double(bitPattern: generator.next())) }
        for double in doubles where double.isFinite {
            // The difference of neighbours is a double, so it shows whether each bit is exact.
            let text =
                "SELECT CAST(larder_exact($1) AS double precision), "
                + "larder_exact($1) - larder_exact($2) = larder_exact($1 - $2)"
            let row = try connection.run(text, .double(double), .double(double.nextDown)).rows[0]
            #expect(row[0] == .double(double == 0 ? 0 : double), "\(double)")
            if double.nextDown.isFinite { #expect(row[1] == .bool(true), "\(double)") }
        }
    }

    @Test(
        "larder_integer is nil for a number that is no 64-bit integer, larder_finite for infinity")
    func checks() throws {
        let connection = try connection()
        let cases: [(String, PostgresValue)] = [
            ("9223372036854775807", .integer(.max)), ("9223372036854775808", .null(.bigint)),
            ("-9223372036854775808", .integer(.min)), ("-9223372036854775809", .null(.bigint)),
            ("0.5", .null(.bigint)), ("7.00", .integer(7)),
        ]
        for (number, expected) in cases {
            let rows = try connection.run("SELECT larder_integer($1)", .numeric(number)).rows
            #expect(rows == [[expected]], "\(number)")
        }
        for (number, expected) in [
            (1.5, PostgresValue.double(1.5)), (.infinity, .null(.double)),
            (-.infinity, .null(.double)),
        ] as [(Double, PostgresValue)] {
            let rows = try connection.run("SELECT larder_finite($1)", .double(number)).rows
            #expect(rows == [[expected]])
        }
    }
}
#endif
