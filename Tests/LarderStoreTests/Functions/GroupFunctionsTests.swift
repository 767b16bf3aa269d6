import Testing

@testable import LarderStore

@Suite("the functions that make groups")
struct GroupFunctionsTests {
    private let folder: MemoryFolder
    private let connection: Connection

    init() throws {
        folder = try MemoryFolder()
        connection = try Connection(path: folder.storePath, createIfMissing: true)
        _ = try StoreFunctions.register(on: connection)
    }

    @Test(
        "end a statement whose arguments make no sense",
        arguments: [
            "larder_groups()", "larder_groups('1 rows')", "larder_groups('', 1)",
            "larder_groups('-1', 1)", "larder_groups('9223372036854775807', 1)",
            "larder_groups('1 sum', 1)", "larder_groups('2 rows', 1)", "larder_count_groups()",
        ])
    func arguments(call: String) throws {
        #expect(throws: SQLiteError.self) { try connection.integer("SELECT \(call)") }
    }

    @Test("give the number of groups, which then are rows")
    func groups() throws {
        let rows = "(SELECT 1 AS k, 2 AS v UNION ALL SELECT NULL, 3 UNION ALL SELECT 1, 4)"
        for call in ["larder_count_integers(k)", "larder_count_groups(k)"] {
            let count = try connection.integer(
                "SELECT g1 FROM _groups((SELECT \(call) FROM \(rows))) WHERE g0 = 1")
            #expect(count == 2)
        }
        let grouping = "SELECT larder_groups('1 sum', k, v) FROM \(rows)"
        let sum = try connection.integer("SELECT g1 FROM _groups((\(grouping))) WHERE g0 = 1")
        #expect(sum == 6)
        #expect(try connection.integer("SELECT g1 FROM _groups(9) WHERE g0 = 2") == nil)
    }
}
