import Testing

@testable import LarderSQL
@testable import LarderStore

@Suite("The functions for groups")
struct GroupFunctionsTests {
    private let database: FunctionDatabase
    private var connection: Connection { database.connection }

    init() throws { database = try FunctionDatabase() }

    @Test(
        "a function for groups with invalid arguments ends its statement",
        arguments: [
            "larder_groups()", "larder_groups('1 rows')", "larder_groups('', 1)",
            "larder_groups('-1', 1)", "larder_groups('9223372036854775807', 1)",
            "larder_groups('1 sum', 1)", "larder_groups('2 rows', 1)", "larder_count_groups()",
        ] as [SQL])
    func arguments(call: SQL) throws {
        #expect(throws: SQLError.self) { try connection.integer("SELECT \(call)") }
    }

    @Test("a function for groups returns their number, and they are the rows of the table")
    func groups() throws {
        let rows: SQL = "(SELECT 1 AS k, 2 AS v UNION ALL SELECT NULL, 3 UNION ALL SELECT 1, 4)"
        for call in ["larder_count_integers(k)", "larder_count_groups(k)"] as [SQL] {
            let count = try connection.integer(
                "SELECT g1 FROM _groups((SELECT \(call) FROM \(rows))) WHERE g0 = 1")
            #expect(count == 2)
        }
        let grouping: SQL = "SELECT larder_groups('1 sum', k, v) FROM \(rows)"
        let sum = try connection.integer("SELECT g1 FROM _groups((\(grouping))) WHERE g0 = 1")
        #expect(sum == 6)
        #expect(try connection.integer("SELECT g1 FROM _groups(9) WHERE g0 = 2") == nil)
    }
}
