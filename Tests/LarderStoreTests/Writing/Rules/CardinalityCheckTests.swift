import LarderModel
import Testing

@testable import LarderSQL
@testable import LarderStore

@Suite("the check of cardinality")
struct CardinalityCheckTests {
    private let library: Library
    private let team: PersistentIdentifier

    init() throws {
        library = try Library(schema: League.schema())
        team = try library.team(playerCount: 2).team
    }

    /// Records the list of players, runs SQL, and checks.
    private func errors(after statement: SQL) throws -> [String] {
        try library.withContext { context in
            var check = CardinalityCheck()
            check.record(
                try library.relationship("Team.players"), of: try library.object(team), change: 1)
            try context.execute(statement)
            try check.check(context)
            return context.summary
        }
    }

    @Test("the cardinality check reports a list that is too short or too long at the end")
    func violations() throws {
        #expect(try errors(after: "SELECT 1") == [])
        #expect(
            try errors(after: "DELETE FROM Player WHERE _id = 1") == ["1 VALIDATION_FAILED"])
        let insert: SQL = "INSERT INTO Player (_version, team) VALUES (1, 1), (1, 1)"
        #expect(try errors(after: insert) == ["1 VALIDATION_FAILED"])
    }

    @Test("the cardinality check accepts an empty optional list, and a list of a deleted object")
    func accepted() throws {
        #expect(try errors(after: "DELETE FROM Player") == [])
        #expect(try errors(after: "DELETE FROM Team") == [])
    }

    @Test("the cardinality check reports each bounded list once, with the last change")
    func records() throws {
        try library.withContext { context in
            var check = CardinalityCheck()
            let object = try library.object(team)
            let players = try library.relationship("Team.players")
            for change in 0..<3 { check.record(players, of: object, change: change) }
            check.record(try library.relationship("Team.mascot"), of: object, change: 4)
            #expect(check.recordCount == 1)
            try context.execute("DELETE FROM Player WHERE _id = 1")
            try check.check(context)
            #expect(context.summary == ["2 VALIDATION_FAILED"])
        }
    }
}
