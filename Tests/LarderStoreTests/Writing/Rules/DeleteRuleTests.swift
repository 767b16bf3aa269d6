import LarderModel
import LarderQuery
import Testing

@testable import LarderStore

@Suite("a delete rule")
struct DeleteRuleTests {
    private let library: Library

    init() throws { library = try Library(schema: League.schema()) }

    @Test("the delete rule deny names the remaining objects, and the relationship")
    func deny() throws {
        let (team, players) = try library.team(playerCount: 2)
        let error = try library.refusal(.delete(team, ifVersion: nil))
        #expect(error.code == .deleteDenied)
        #expect(error.uri == players[0].uriRepresentation)
        #expect(
            error.message
                == "\(team.uriRepresentation) cannot be deleted, because its Team.players leads to "
                + players.map(\.uriRepresentation).joined(separator: ", "))
        let violation = try #require(error.details.first)
        #expect(violation.entityName == "Team" && violation.propertyNames == ["players"])
        #expect(violation.rule == .deleteRule && violation.change == 0)
    }

    @Test("the delete rule deny names a few of many remaining objects")
    func denyMany() throws {
        let teams = try (0..<8).map { _ in try library.insert("Team") }
        let sponsor = try library.insert("Sponsor", ["teams": .objects(teams)])
        let error = try library.refusal(.delete(sponsor, ifVersion: nil))
        #expect(error.message.hasSuffix("\(teams[4].uriRepresentation) and 3 more"))
    }

    @Test("the delete rule deny is satisfied by what the same set deletes or moves away")
    func denySatisfied() throws {
        let (team, players) = try library.team(playerCount: 2)
        let both = players.map { Change.delete($0, ifVersion: nil) }
        let after = try library.saved(.delete(team, ifVersion: nil), both[0], both[1])
        #expect(after.deletedCount == 3)
        let (second, others) = try library.team(playerCount: 2)
        try library.saved(
            .delete(others[0], ifVersion: nil),
            .update(second, ifVersion: nil, values: ["players": .objects([])]),
            .delete(second, ifVersion: nil))
        #expect(try library.keys(others[1], "team") == [])
    }

    @Test("the delete rule deny holds within a cascade, and is satisfied by a cascade")
    func denyWithinCascade() throws {
        let league = try library.insert("League")
        let (team, players) = try library.team(["league": .object(league)], playerCount: 2)
        let error = try library.refusal(.delete(league, ifVersion: nil))
        #expect(error.code == .deleteDenied)
        #expect(error.message.hasPrefix(team.uriRepresentation))
        let sponsor = try library.insert("Sponsor", ["teams": .objects([team])])
        let result = try library.saved(
            .delete(sponsor, ifVersion: nil), .delete(players[0], ifVersion: nil),
            .delete(league, ifVersion: nil), .delete(players[1], ifVersion: nil))
        #expect(result.deletedCount == 5)
        #expect(try library.count("Team") == 0)
    }

    @Test("the delete rule deny is satisfied by a cycle that is deleted as a whole")
    func denyCycle() throws {
        let node = Entity(
            name: "Node", attributes: [],
            relationships: [
                Relationship(
                    name: "next", destination: "Node", inverse: "previous", deleteRule: .cascade),
                Relationship(
                    name: "previous", destination: "Node", inverse: "next", deleteRule: .deny),
            ])
        let ring = try Library(schema: Schema(entities: [node]))
        let nodes = (0..<3).map { PersistentIdentifier.new("\($0)", "Node") }
        let inserted = try ring.saved(
            .insert(nodes[0], values: ["next": .object(nodes[1])]),
            .insert(nodes[1], values: ["next": .object(nodes[2])]),
            .insert(nodes[2], values: ["next": .object(nodes[0])])
        ).inserted
        try ring.saved(.update(inserted[2], ifVersion: nil, values: ["next": nil]))
        #expect(try ring.refusal(.delete(inserted[1], ifVersion: nil)).code == .deleteDenied)
        try ring.saved(
            .update(inserted[2], ifVersion: nil, values: ["next": .object(inserted[0])]))
        #expect(try ring.saved(.delete(inserted[1], ifVersion: nil)).deletedCount == 3)
    }

    @Test("the delete rule noAction leaves a key without an object, and both sides agree")
    func noAction() throws {
        let team = try library.insert("Team")
        let mascot = try library.insert("Mascot", ["team": .object(team)])
        try library.saved(.delete(team, ifVersion: nil))
        #expect(try library.keys(mascot, "team") == library.keys([team]))
        #expect(try library.version(mascot) == 1)
        let next = try library.insert("Team")
        #expect(next.permanentKey == 2)
        #expect(try library.keys(next, "mascot") == [])
        let again = try library.refusal(
            .update(mascot, ifVersion: nil, values: ["team": .object(team)]))
        #expect(again.code == .objectNotFound)
        try library.saved(.update(mascot, ifVersion: nil, values: ["team": .object(next)]))
        #expect(try library.keys(next, "mascot") == library.keys([mascot]))
        try library.saved(.delete(next, ifVersion: nil))
        try library.saved(.update(mascot, ifVersion: nil, values: ["team": nil]))
        try library.saved(.delete(mascot, ifVersion: nil))
    }

    @Test("the delete rule noAction leaves no pair, and no object that requires the deleted one")
    func noActionElsewhere() throws {
        let (team, rival) = (try library.insert("Team"), try library.insert("Team"))
        try library.saved(.update(team, ifVersion: nil, values: ["rivals": .objects([rival])]))
        try library.saved(.delete(rival, ifVersion: nil))
        #expect(try library.keys(team, "rivals") == [])
        let player = try library.insert("Player")
        let badge = try library.insert("Badge", ["player": .object(player)])
        #expect(try library.refusal(.delete(player, ifVersion: nil)).code == .deleteDenied)
        try library.saved(.delete(badge, ifVersion: nil))
        #expect(try library.keys(player, "badge") == [])
    }

    @Test("queries read the keys that the delete rule noAction leaves as nil objects")
    func noActionQueries() throws {
        let team = try library.insert("Team", ["name": "a"])
        let mascot = try library.insert("Mascot", ["team": .object(team)])
        try library.saved(.delete(team, ifVersion: nil))
        let reader = try library.store.makeReader()
        func keys(_ format: String) throws -> [Int64] {
            let fetch = Fetch("Mascot", where: .format(format), selection: .identifiers)
            let plan = try library.store.plan(.fetch(fetch), QueryParameters())
            let cursor = try reader.open(plan, QueryParameters(), budget: ReadBudget())
            defer { cursor.close() }
            let batch = try cursor.next(bytesMax: 1_000, budget: ReadBudget()).batch
            return batch.identity?.keys ?? []
        }
        #expect(try keys("team.name == nil") == library.keys([mascot]))
        #expect(try keys("team.name == 'a'") == [])
    }

    @Test("the error of a delete whose nullify clears a required reference names the object")
    func mandatoryInverse() throws {
        let league = try library.insert("League")
        let (team, players) = try library.team(["league": .object(league)], playerCount: 2)
        let badge = try library.insert("Badge", ["player": .object(players[0])])
        let error = try library.refusal(
            .delete(players[1], ifVersion: nil), .delete(league, ifVersion: nil),
            .delete(players[0], ifVersion: nil))
        #expect(error.code == .deleteDenied)
        #expect(error.uri == badge.uriRepresentation)
        #expect(error.message.contains("requires it as Badge.player"))
        #expect(try library.version(team) == 1)
    }
}
