import QueryScripts
import TestSupport
import Testing

@Suite struct EditScriptTests {
    @Test("edits of lists have the results, or the errors, that the scripts state")
    func scripts() throws {
        try runScripts(
            in: "edits", makeRun: { try EditScript(Library(schema: Lists.schema())).run })
    }
}
