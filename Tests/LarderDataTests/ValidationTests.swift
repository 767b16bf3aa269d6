import Foundation
import LarderData
import Testing

@Model final class Team {
    @Attribute(.unique) var code: String
    @Attribute(.unique) var number: Int
    @Relationship(deleteRule: .deny, inverse: \Player._team) var players: [Player] = []

    init(code: String, number: Int) {
        self.code = code
        self.number = number
    }
}

extension Team {
    /// Nothing that a store has.
    var label: String { code.uppercased() }
}

@Model final class Player {
    var name: String
    /// Its name in the store is another one.
    var _team: Team?

    init(name: String, team: Team? = nil) {
        self.name = name
        _team = team
    }
}

@Model final class Match {
    @Relationship(minimumModelCount: 1, maximumModelCount: 2) var guests: [Player] = []
    var home: Team

    init(home: Team, guests: [Player]) {
        self.home = home
        self.guests = guests
    }
}

@Suite("The rules that a rejected save breaks")
struct ValidationTests {
    /// A context of a container on an empty store, and the folder of the store.
    private func context(_ kind: StoreKind) throws -> (ModelContext, TestFolder) {
        let (own, _, folder) = try kind.containers(for: Team.self, Player.self, Match.self)
        return (ModelContext(own), folder)
    }

    /// The problems of a save that has to be rejected.
    private func problems(_ context: ModelContext) throws -> [ValidationProblem] {
        do {
            try context.save()
            Issue.record("the save is not rejected")
            return []
        } catch let error as SwiftDataError {
            #expect(error == .modelValidationFailure)
            return error.validationProblems
        }
    }

    @Test(
        "a rejected save reports each model, its properties, the broken rule and a message",
        arguments: StoreKind.allCases)
    func counts(_ kind: StoreKind) throws {
        let (context, folder) = try context(kind)
        defer { withExtendedLifetime(folder) {} }
        let team = Team(code: "A", number: 1)
        let players = ["x", "y", "z"].map { Player(name: $0, team: team) }
        let (few, many) = (Match(home: team, guests: []), Match(home: team, guests: players))
        for match in [few, many] { context.insert(match) }
        let found = try problems(context)
        #expect(found.map(\.model) == [few.persistentModelID, many.persistentModelID])
        #expect(found.map(\.propertyNames) == [["guests"], ["guests"]])
        #expect(found.map(\.rule) == [.minCount, .maxCount])
        #expect(found.allSatisfy { $0.entityName == "Match" && !$0.message.isEmpty })
        // The changes are kept, so that they can be corrected.
        few.guests = [players[0]]
        many.guests = [players[1]]
        try context.save()
    }

    @Test(
        "a rejected save reports the saved model whose required model is deleted",
        arguments: StoreKind.allCases)
    func required(_ kind: StoreKind) throws {
        let (context, folder) = try context(kind)
        defer { withExtendedLifetime(folder) {} }
        let team = Team(code: "A", number: 1)
        let match = Match(home: team, guests: [Player(name: "x")])
        context.insert(match)
        try context.save()
        context.delete(team)
        let found = try problems(context)
        #expect(found.map(\.model) == [match.persistentModelID])
        #expect(found.map(\.propertyNames) == [["home"]])
        #expect(found.map(\.rule) == [.optional])
    }

    @Test(
        "a rejected save reports the model whose deletion is denied", arguments: StoreKind.allCases)
    func denied(_ kind: StoreKind) throws {
        let (context, folder) = try context(kind)
        defer { withExtendedLifetime(folder) {} }
        let team = Team(code: "A", number: 1)
        context.insert(Player(name: "x", team: team))
        try context.save()
        context.delete(team)
        let found = try problems(context)
        #expect(found.map(\.model) == [team.persistentModelID])
        #expect(found.map(\.propertyNames) == [["players"]])
        #expect(found.map(\.rule) == [.deleteRule])
    }

    @Test(
        "a rejected save reports the properties whose unique values another model has",
        arguments: StoreKind.allCases)
    func unique(_ kind: StoreKind) throws {
        let (context, folder) = try context(kind)
        defer { withExtendedLifetime(folder) {} }
        context.insert(Team(code: "A", number: 1))
        let other = Team(code: "B", number: 2)
        context.insert(other)
        try context.save()
        let third = Team(code: "A", number: 2)
        context.insert(third)
        let found = try problems(context)
        #expect(found.map(\.model) == [third.persistentModelID])
        #expect(found.map { Set($0.propertyNames) } == [["code", "number"]])
        #expect(found.map(\.rule) == [.unique])
        context.rollback()
        other.code = "A"
        let changed = try problems(context)
        #expect(changed.map(\.model) == [other.persistentModelID])
        #expect(changed.map(\.propertyNames) == [["code"]])
    }

    @Test("a rejected update by predicate reports properties by their names in the class")
    func update() throws {
        let (context, _) = try context(.memory)
        let teams = [Team(code: "A", number: 1), Team(code: "B", number: 2)]
        for team in teams { context.insert(team) }
        try context.save()
        do {
            try context.update(Team.self, where: nil, .set(\.code, to: #Expression { _ in "C" }))
            Issue.record("two teams have the same code")
        } catch let error as SwiftDataError {
            #expect(error == .modelValidationFailure)
            #expect(error.validationProblems.first?.propertyNames == ["code"])
            #expect(error.validationProblems.first?.rule == .unique)
        }
    }

    @Test("an error that is not a rejected save has no validation problems")
    func others() throws {
        let (context, _) = try context(.memory)
        let wrong = FetchDescriptor<Team>(predicate: #Predicate { $0.label == "A" })
        do {
            _ = try context.fetch(wrong)
            Issue.record("the predicate is not supported")
        } catch let error as SwiftDataError {
            #expect(error.validationProblems.isEmpty)
        }
    }
}
