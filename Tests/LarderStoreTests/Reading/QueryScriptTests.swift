import TestSupport
import Testing

@Suite struct QueryScriptTests {
    @Test("queries give the plan, the SQL and the rows that the scripts hold")
    func scripts() throws {
        try runScripts(in: "queries", makeRun: { QueryScript().run })
    }
}
