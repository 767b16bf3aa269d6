import LarderModel
import LarderStore
import QueryScripts
import TestSupport
import Testing

@Suite struct QueryScriptTests {
    static let folders = ["predicates", "expressions", "results", "errors"]

    @Test("queries have the plan, the SQL and the rows in the scripts", arguments: folders)
    func scripts(folder: String) throws {
        try runScripts(
            in: "queries/\(folder)", makeRun: { QueryScript { try Store.inMemory(schema: $0) }.run }
        )
    }
}
