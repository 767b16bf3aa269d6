import TestSupport
import Testing

@testable import LarderSQL

@Suite struct QueryScriptTests {
    static let folders = ["predicates", "expressions", "results", "errors"]

    @Test("queries have the plan, the SQL and the rows in the scripts", arguments: folders)
    func scripts(folder: String) throws {
        try runScripts(in: "queries/\(folder)", makeRun: { QueryScript().run })
    }
}
