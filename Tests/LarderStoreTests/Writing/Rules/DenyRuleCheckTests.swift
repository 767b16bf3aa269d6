import LarderModel
import Testing

@testable import LarderSQL
@testable import LarderStore

@Suite("the check of the delete rule deny")
struct DenyRuleCheckTests {
    private let library: Library
    private let team: PersistentIdentifier
    private let players: [PersistentIdentifier]

    init() throws {
        library = try Library(schema: League.schema())
        (team, players) = try library.team(playerCount: 3)
    }

    /// Records a delete of the team, runs SQL, and checks.
    private func error(after statement: SQL) throws -> LarderError? {
        try library.withContext { context in
            var check = DenyRuleCheck()
            context.changeIndex = 7
            try check.record(
                library.relationship("Team.players"), of: library.object(team), context)
            context.changeIndex = nil
            try context.execute(statement)
            try check.check(context)
            return context.errors.error(changeCount: 1)
        }
    }

    @Test("the check of the rule deny reports remaining destinations, with the change")
    func violation() throws {
        let error = try #require(try error(after: "DELETE FROM Player WHERE _id = 1"))
        #expect(error.code == .deleteDenied && error.details[0].change == 7)
        #expect(error.message.contains(team.uriRepresentation))
        #expect(error.message.contains(players[1].uriRepresentation))
        #expect(!error.message.contains(players[0].uriRepresentation))
        #expect(error.uri == players[1].uriRepresentation)
    }

    @Test("the check of the rule deny accepts a delete if all destinations are deleted too")
    func deleted() throws {
        #expect(try error(after: "DELETE FROM Player") == nil)
    }

    @Test("the check of the rule deny counts the destinations at the time of the delete")
    func unlinkedLater() throws {
        #expect(try error(after: "UPDATE Player SET team = NULL") != nil)
        try library.withContext { context in
            var check = DenyRuleCheck()
            try context.execute("UPDATE Player SET team = NULL")
            try check.record(
                library.relationship("Team.players"), of: library.object(team), context)
            try check.check(context)
            #expect(context.errors.isEmpty)
        }
    }
}
