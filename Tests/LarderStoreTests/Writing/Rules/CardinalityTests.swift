import LarderModel
import LarderQuery
import Testing

@testable import LarderStore

@Suite("cardinality")
struct CardinalityTests {
    private let library: Library

    init() throws { library = try Library(schema: League.schema()) }

    private func players(_ count: Int) throws -> [PersistentIdentifier] {
        try (0..<count).map { _ in try library.insert("Player") }
    }

    @Test("cardinality is checked for changes from the side that has the list")
    func list() throws {
        let all = try players(4)
        let few = try library.refusal(
            .insert(.new("t", "Team"), values: ["players": .objects([all[0]])]))
        #expect(few.code == .validationFailed)
        #expect(
            few.message
                == "Team.players of an inserted object has 1 object and needs at least 2")
        let violation = try #require(few.details.first)
        #expect(violation.rule == .minCount && violation.change == 0 && violation.uri == nil)
        let many = try library.refusal(
            .insert(.new("t", "Team"), values: ["players": .objects(all)]))
        #expect(many.message.hasSuffix("has 4 objects and takes at most 3"))
        #expect(many.details.first?.rule == .maxCount)
        try library.insert("Team", ["players": .objects(Array(all[..<3]))])
    }

    @Test("cardinality is checked for changes from the other side, and for deletes")
    func otherSide() throws {
        let (team, members) = try library.team(playerCount: 3)
        let player = try library.insert("Player")
        let joins = try library.refusal(
            .update(player, ifVersion: nil, values: ["team": .object(team)]))
        #expect(joins.details.first?.rule == .maxCount)
        #expect(joins.uri == team.uriRepresentation)
        let inserted = try library.refusal(
            .insert(.new("p", "Player"), values: ["team": .object(team)]))
        #expect(inserted.details.first?.rule == .maxCount)
        try library.saved(.delete(members[0], ifVersion: nil))
        let leaves = try library.refusal(
            .update(members[1], ifVersion: nil, values: ["team": nil]))
        #expect(leaves.details.first?.rule == .minCount)
        let deleted = try library.refusal(.delete(members[1], ifVersion: nil))
        #expect(deleted.details.first?.rule == .minCount)
        #expect(deleted.message.contains("Team.players of \(team.uriRepresentation) has 1 object"))
    }

    @Test("an optional list may be empty whatever its minimum, and a required one may not")
    func empty() throws {
        let (team, members) = try library.team(playerCount: 2)
        try library.saved(
            .delete(members[0], ifVersion: nil), .delete(members[1], ifVersion: nil))
        #expect(try library.keys(team, "players") == [])
        let sponsor = try library.refusal(.insert(.new("s", "Sponsor"), values: [:]))
        #expect(sponsor.details.first?.rule == .minCount)
        #expect(sponsor.message.hasSuffix("has 0 objects and needs at least 1"))
        let known = try library.insert("Sponsor", ["teams": .objects([team])])
        let left = try library.refusal(.delete(team, ifVersion: nil))
        #expect(left.uri == known.uriRepresentation)
        #expect(left.details.first?.rule == .minCount)
    }

    @Test("cardinality is checked at the end of the set, in both lists of a many-to-many")
    func atTheEnd() throws {
        let (team, members) = try library.team(playerCount: 3)
        try library.saved(
            .insert(.new("p", "Player"), values: ["team": .object(team)]),
            .delete(members[0], ifVersion: nil))
        #expect(try library.keys(team, "players").count == 3)
        let sponsors = try (0..<3).map { _ in
            try library.insert("Sponsor", ["teams": .objects([try library.insert("Team")])])
        }
        let many = try library.refusal(
            .update(sponsors[0], ifVersion: nil, values: ["teams": .objects([team])]),
            .update(sponsors[1], ifVersion: nil, values: ["teams": .objects([team])]),
            .update(sponsors[2], ifVersion: nil, values: ["teams": .objects([team])]))
        #expect(many.details.map(\.rule) == [.maxCount])
        #expect(many.details.map(\.change) == [2])
    }

    @Test("cardinality is checked for a list without inverse, also when its objects are deleted")
    func oneWay() throws {
        let owner = Entity(
            name: "Owner", attributes: [],
            relationships: [
                Relationship(name: "items", destination: "Item", isToMany: true, minCount: 2)
            ])
        let store = try Library(
            schema: Schema(entities: [owner, Entity(name: "Item", attributes: [])]))
        let items = try (0..<3).map { _ in try store.insert("Item") }
        let object = try store.insert("Owner", ["items": .objects(items)])
        try store.saved(.delete(items[0], ifVersion: nil))
        let error = try store.refusal(.delete(items[1], ifVersion: nil))
        #expect(error.uri == object.uriRepresentation)
        #expect(error.details.first?.rule == .minCount)
    }
}
