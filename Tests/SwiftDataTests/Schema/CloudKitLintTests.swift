import SwiftData
import Testing

@Suite("What CloudKit refuses in a schema")
struct CloudKitLintTests {
    @Test("each CloudKit problem of a schema names its property")
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

    @Test("a default that is computed in the declaration satisfies CloudKit")
    func computedDefault() {
        #expect(Schema(Remote.self).cloudKitProblems.allSatisfy { !$0.hasPrefix("`Remote") })
    }

    /// The class in the module's models, except that the macro knows no inverses.
    @Test("the macro CloudKitChecked reports the same problems from the source code")
    func macro() {
        let expansion = MacroExpansion(
            """
            @CloudKitChecked class Local {
                #Unique<Local>([\\.given, \\Local.value])
                @Attribute(.unique) var name: String
                var given: Int
                var value: Int = 1
                var other = 1
                var optional: Int?
                @Attribute(.ephemeral) var generic: Optional<Int>
                @Transient var shown = false
                static var count: Int = 0
                var computed: Int { 1 }
                @Relationship var node: Node
                @Relationship var nodes: [Node] = []
                @Relationship(deleteRule: .deny, inverse: \\Remote.local)
                var remotes: [Remote]? = []

                init() {}
            }
            """)
        #expect(expansion.messages.isEmpty)
        #expect(
            expansion.warnings == [
                "`Local` must not have a unique constraint (given, value)",
                "`Local.name` must be optional or have a default value in its declaration",
                "`Local` must not have a unique constraint (name)",
                "`Local.given` must be optional or have a default value in its declaration",
                "`Local.node` must be optional", "`Local.nodes` must be optional",
                "`Local.remotes` must not have the delete rule `deny`",
            ])
        let found = Set(Schema(Local.self).cloudKitProblems)
        #expect(found.isSuperset(of: expansion.warnings.dropFirst()))
    }

    @Test("the macro CloudKitChecked reports nothing for a correct class, and refuses a struct")
    func macroWithoutProblems() {
        let correct = MacroExpansion(
            """
            @CloudKitChecked class Remote {
                var made = Date.now
                @Relationship(deleteRule: .cascade) var notes: [Note]? = []
                init() {}
            }
            """)
        #expect(correct.warnings.isEmpty && correct.messages.isEmpty)
        let wrong = MacroExpansion("@CloudKitChecked struct Remote {}")
        #expect(wrong.messages == ["'@CloudKitChecked' can only be applied to a model class"])
    }
}
