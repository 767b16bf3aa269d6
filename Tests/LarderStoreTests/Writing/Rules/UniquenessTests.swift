import LarderModel
import LarderQuery
import Testing

@testable import LarderStore

@Suite("a uniqueness constraint")
struct UniquenessTests {
    private let library: Library

    init() throws { library = try Library(schema: League.schema()) }

    private func upsert(_ changes: Change...) -> ChangeSet {
        ChangeSet(changes, onUniqueConflict: .upsert)
    }

    private func saved(_ set: ChangeSet) throws -> SaveResult {
        try library.writer.save([set])[0].get()
    }

    @Test("one set may exchange two unique values, and three")
    func exchange() throws {
        let teams = try ["a", "b", "c"].map { name in
            try library.insert("Team", ["name": .string(name)])
        }
        func rename(_ index: Int, _ name: String) -> Change {
            .update(teams[index], ifVersion: nil, values: ["name": .string(name)])
        }
        try library.saved(rename(0, "b"), rename(1, "a"))
        try library.saved(rename(2, "b"), rename(0, "a"), rename(1, "c"))
        #expect(
            try teams.map { try library.value($0, "name") } == [.text("a"), .text("c"), .text("b")])
        let error = try library.refusal(rename(0, "b"), rename(1, "a"), rename(2, "a"))
        #expect(error.details.map(\.rule) == [.unique])
        #expect(error.details.map(\.change) == [2])
        #expect(error.uri == teams[1].uriRepresentation)
    }

    @Test("one set may exchange objects under a uniqueness constraint over a relationship")
    func exchangeOfLinks() throws {
        let (one, two) = (try library.insert("League"), try library.insert("League"))
        let first = try library.insert("Team", ["league": .object(one), "number": 1])
        let second = try library.insert("Team", ["league": .object(two), "number": 1])
        try library.saved(
            .update(one, ifVersion: nil, values: ["teams": .objects([second])]),
            .update(two, ifVersion: nil, values: ["teams": .objects([first])]))
        #expect(try library.keys(first, "league") == library.keys([two]))
        let error = try library.refusal(
            .update(one, ifVersion: nil, values: ["teams": .objects([first, second])]))
        #expect(error.code == .uniquenessViolated)
        #expect(error.details.first?.propertyNames == ["league", "number"])
        try library.saved(
            .update(one, ifVersion: nil, values: ["teams": .objects([first, second])]),
            .update(second, ifVersion: nil, values: ["number": 2]))
    }

    @Test("a unique value is accepted if another object loses it later in the set")
    func givenUp() throws {
        let team = try library.insert("Team", ["name": "a"])
        let result = try library.saved(
            .insert(.new("t", "Team"), values: ["name": "a"]), .delete(team, ifVersion: nil))
        #expect(try library.value(result.inserted[0], "name") == .text("a"))
    }

    // MARK: - Upsert

    @Test("an insert under upsert updates the object with its unique values")
    func upsert() throws {
        let team = try library.insert("Team", ["name": "e\u{301}", "motto": "old", "number": 1])
        let result = try saved(
            upsert(
                .insert(.new("m", "Mascot"), values: ["team": .object(.new("t", "Team"))]),
                .insert(.new("t", "Team"), values: ["name": "\u{e9}", "motto": "new"]),
                .insert(.new("u", "Team"), values: ["name": "u", "motto": "new"]),
                .insert(
                    .new("s", "Sponsor"),
                    values: ["teams": .objects([.new("u", "Team"), .new("t", "Team")])])))
        #expect(result.inserted[1] == team)
        #expect(result.upserted == [1])
        #expect(try library.count("Team") == 2)
        #expect(try library.value(team, "motto") == .text("new"))
        #expect(try library.value(team, "number") == .integer(1))
        #expect(try library.version(team) == 2)
        #expect(try library.keys(result.inserted[0], "team") == library.keys([team]))
        #expect(
            try library.keys(result.inserted[3], "teams")
                == library.keys([team, result.inserted[2]]))
    }

    @Test("an upsert compares a combination of values, and only if it is complete")
    func upsertOfCombination() throws {
        let league = try library.insert("League")
        let team = try library.insert("Team", ["league": .object(league), "number": 1])
        let values: [String: Value] = ["league": .object(league), "number": 1, "motto": "m"]
        #expect(try saved(upsert(.insert(.new("t", "Team"), values: values))).inserted == [team])
        #expect(try library.value(team, "motto") == .text("m"))
        let other = try saved(upsert(.insert(.new("t", "Team"), values: ["number": 1])))
        #expect(other.inserted != [team] && other.upserted == [])
    }

    @Test("an upsert that matches two objects is rejected, and both are named")
    func ambiguousUpsert() throws {
        let league = try library.insert("League")
        let first = try library.insert("Team", ["name": "a"])
        let second = try library.insert("Team", ["league": .object(league), "number": 1])
        let error = try #require(
            try library.refusal(
                of: upsert(
                    .insert(
                        .new("t", "Team"),
                        values: ["name": "a", "league": .object(league), "number": 1]),
                    .insert(.new("m", "Mascot"), values: ["team": .object(.new("t", "Team"))]))))
        #expect(error.code == .uniquenessViolated)
        #expect(
            error.message.hasPrefix(
                "the insert matches \(first.uriRepresentation) by Team.name, and "
                    + "\(second.uriRepresentation) by Team.league and Team.number"))
    }

    @Test("two inserts of one upserting set become one object, with both temporary identifiers")
    func upsertWithinSet() throws {
        let result = try saved(
            upsert(
                .insert(.new("a", "Team"), values: ["name": "a", "motto": "1"]),
                .insert(.new("b", "Team"), values: ["name": "a", "motto": "2", "number": 2]),
                .insert(
                    .new("s", "Sponsor"),
                    values: ["teams": .objects([.new("a", "Team"), .new("b", "Team")])])))
        #expect(result.inserted[0] == result.inserted[1])
        #expect(result.upserted == [1])
        #expect(try library.value(result.inserted[0], "motto") == .text("2"))
        #expect(try library.version(result.inserted[0]) == 1)
        #expect(try library.keys(result.inserted[2], "teams").count == 1)
    }

    @Test("an upsert reads the effect of earlier changes of the set")
    func upsertInOrder() throws {
        let team = try library.insert("Team", ["name": "a"])
        let renamed = try saved(
            upsert(
                .update(team, ifVersion: nil, values: ["name": "b"]),
                .insert(.new("t", "Team"), values: ["name": "a"]),
                .insert(.new("u", "Team"), values: ["name": "b", "motto": "m"])))
        #expect(renamed.inserted[0] != team)
        #expect(renamed.inserted[1] == team)
        #expect(renamed.upserted == [1])
        #expect(renamed.updatedVersions == [2])
        let deleted = try saved(
            upsert(
                .delete(team, ifVersion: nil), .insert(.new("t", "Team"), values: ["name": "b"])))
        #expect(deleted.inserted[0] != team && deleted.upserted == [])
    }

    @Test("an upsert requires values only if the object is new")
    func upsertOfRequired() throws {
        let entity = Entity(
            name: "Word",
            attributes: [
                Attribute(name: "text", type: .string, unique: .exact),
                Attribute(name: "meaning", type: .string),
                Attribute(name: "count", type: .int64, defaultValue: .int(1)),
            ])
        let words = try Library(schema: Schema(entities: [entity]))
        let known = try words.insert("Word", ["text": "a", "meaning": "m", "count": 5])
        let set = upsert(.insert(.new("w", "Word"), values: ["text": "a"]))
        #expect(try words.writer.save([set])[0].get().inserted == [known])
        #expect(try words.value(known, "count") == .integer(5))
        let new = upsert(.insert(.new("w", "Word"), values: ["text": "b"]))
        #expect(try #require(try words.refusal(of: new)).code == .missingValue)
    }
}
