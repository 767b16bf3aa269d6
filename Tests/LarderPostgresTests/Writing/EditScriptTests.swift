#if PostgreSQL
import QueryScripts
import TestSupport
import Testing

@Suite(
    "Edits of lists in PostgreSQL",
    .enabled(if: PostgresServer.isInstalled, Comment(rawValue: PostgresServer.notInstalled)))
struct EditScriptTests {
    @Test("Edits of lists have the results, or the errors, that SQLite's scripts state")
    func scripts() throws {
        let other = #filePath.replacing("LarderPostgresTests", with: "LarderStoreTests")
        try runScripts(
            in: "edits", filePath: other,
            makeRun: { try EditScript(PostgresLibrary(Lists.schema())).run })
    }
}
#endif
