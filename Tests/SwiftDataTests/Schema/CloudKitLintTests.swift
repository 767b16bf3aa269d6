import SwiftData
import Testing

@Suite("What CloudKit refuses in a schema")
struct CloudKitLintTests {
    @Test("each problem names its property")
    func problems() {
        let problems = Schema(Local.self).cloudKitProblems.filter { $0.hasPrefix("`Local") }
        #expect(
            problems == [
                "`Local.name` must be optional or have a default value in its declaration",
                "`Local.given` must be optional or have a default value in its declaration",
                "`Local.node` must be optional", "`Local.node` must have an inverse",
                "`Local.nodes` must be optional", "`Local.nodes` must have an inverse",
                "`Local.remotes` must not have the delete rule `deny`",
                "`Local` must not have a unique constraint (name)",
            ])
    }

    @Test("a default that is computed in the declaration counts")
    func computedDefault() {
        #expect(Schema(Remote.self).cloudKitProblems.allSatisfy { !$0.hasPrefix("`Remote") })
    }
}
