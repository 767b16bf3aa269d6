import TestSupport
import Testing

@Suite struct EditScriptTests {
    @Test("edits leave the lists, or give the errors, that the scripts hold")
    func scripts() throws {
        try runScripts(in: "edits", makeRun: { try EditScript().run })
    }
}
