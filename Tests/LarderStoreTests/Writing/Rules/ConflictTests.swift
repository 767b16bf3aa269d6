import LarderModel
import Testing

@testable import LarderSQL
@testable import LarderStore

@Suite("a conflict")
struct ConflictTests {
    private let library: Library
    private let team: PersistentIdentifier

    /// A team that someone renamed after it was read with the name `a` and the version 1.
    init() throws {
        library = try Library(schema: League.schema())
        team = try library.insert("Team", ["name": "a", "motto": "m", "number": 1])
        try library.saved(.update(team, ifVersion: nil, values: ["name": "b"]))
    }

    private static let base: [String: Value] = ["name": "a", "motto": "m", "number": 1]

    private func save(_ policy: MergePolicy, _ changes: Change...) throws -> SaveResult {
        try library.writer.save([ChangeSet(changes, mergePolicy: policy)])[0].get()
    }

    private func update(
        _ values: [String: Value], base: [String: Value] = base, ifVersion: Int64? = 1
    ) -> Change {
        .update(team, ifVersion: ifVersion, values: values, base: base)
    }

    private func values() throws -> [SQLValue] {
        try ["name", "motto", "number"].map { try library.value(team, $0) }
    }

    @Test("a conflict under error is rejected, with both snapshots")
    func error() throws {
        let set = ChangeSet([update(["name": "c", "motto": "n"])])
        let error = try #require(try library.refusal(of: set))
        #expect(error.code == .versionConflict)
        #expect(error.message == "\(team.uriRepresentation) has version 2, not 1")
        #expect(
            error.details.first?.conflict
                == MergeConflict(
                    storedVersion: 2, expectedVersion: 1,
                    properties: [
                        .init(name: "name", base: "a", stored: "b", given: "c"),
                        .init(name: "number", base: 1, stored: 1, given: nil),
                        .init(name: "motto", base: "m", stored: "m", given: "n"),
                    ]))
        #expect(error.details.first?.rule == .version)
    }

    @Test("a conflict without a version is found by the base values")
    func byValue() throws {
        let error = try #require(
            try library.refusal(of: ChangeSet([update(["motto": "n"], ifVersion: nil)])))
        #expect(
            error.message
                == "\(team.uriRepresentation) has other values of name than the change is based on")
        let result = try save(
            .error, update(["motto": "n"], base: ["motto": "m", "number": 1], ifVersion: nil))
        #expect(result == SaveResult(updatedVersions: [3], transaction: 3))
    }

    @Test("a conflict under storeWins is resolved by property, so that both edits are kept")
    func storeWins() throws {
        let result = try save(.storeWins, update(["name": "c", "motto": "n"]))
        #expect(result == SaveResult(updatedVersions: [3], merged: [0], transaction: 3))
        #expect(try values() == [.text("b"), .text("n"), .integer(1)])
        let noBase = ChangeSet([update(["motto": "o"], base: [:])], mergePolicy: .storeWins)
        #expect(try #require(try library.refusal(of: noBase)).code == .invalidChangeSet)
    }

    @Test("a conflict under callerWins sets only the properties that the caller changed")
    func callerWins() throws {
        let result = try save(.callerWins, update(["motto": "n"]))
        #expect(result.merged == [0])
        #expect(try values() == [.text("b"), .text("n"), .integer(1)])
        _ = try save(.callerWins, update(["name": "c"], base: [:]))
        #expect(try values() == [.text("c"), .text("n"), .integer(1)])
    }

    @Test("a conflict under overwrite sets the caller's whole snapshot")
    func overwrite() throws {
        _ = try save(.overwrite, update(["motto": "n"]))
        #expect(try values() == [.text("a"), .text("n"), .integer(1)])
        let set = ChangeSet([update([:], base: ["number": 10])], mergePolicy: .overwrite)
        #expect(try #require(try library.refusal(of: set)).code == .validationFailed)
    }

    @Test("a conflict under rollback skips only the change")
    func rollback() throws {
        let other = try library.insert("Team")
        let result = try save(
            .rollback, update(["motto": "n"]),
            .update(other, ifVersion: 1, values: ["motto": "o"]))
        #expect(result == SaveResult(updatedVersions: [2, 2], merged: [0], transaction: 4))
        #expect(try values() == [.text("b"), .text("m"), .integer(1)])
        #expect(try library.value(other, "motto") == .text("o"))
    }

    @Test(
        "a conflict of a delete keeps or deletes the object, by the policy",
        arguments: [
            (MergePolicy.storeWins, Int64(0)), (.rollback, 0), (.callerWins, 1), (.overwrite, 1),
        ])
    func deletes(policy: MergePolicy, count: Int64) throws {
        let result = try save(policy, .delete(team, ifVersion: 1))
        let transaction: Int64? = count == 0 ? nil : 3
        #expect(
            result
                == SaveResult(deletedCount: count, merged: [0], transaction: transaction))
        #expect(try library.count("Team") == 1 - count)
    }

    @Test("an update of a deleted object is an error, or is skipped, by the merge policy")
    func deletedMeanwhile() throws {
        try library.saved(.delete(team, ifVersion: nil))
        for policy in [MergePolicy.error, .callerWins, .overwrite] {
            let set = ChangeSet([update(["motto": "n"])], mergePolicy: policy)
            let error = try #require(try library.refusal(of: set))
            #expect(error.code == .objectNotFound)
            #expect(error.details.first?.conflict?.storedVersion == 0)
        }
        for policy in [MergePolicy.storeWins, .rollback] {
            let result = try save(policy, update(["motto": "n"]))
            #expect(result == SaveResult(updatedVersions: [0], merged: [0]))
        }
        let twice = try save(.callerWins, .delete(team, ifVersion: 2))
        #expect(twice == SaveResult(merged: [0]))
    }

    @Test("a conflict is found in relationships too, ordered ones by their order")
    func relationships() throws {
        let players = try (0..<3).map { _ in try library.insert("Player") }
        try library.saved(
            .update(team, ifVersion: nil, values: ["players": .objects([players[1], players[0]])]))
        let base: [String: Value] = ["players": .objects([players[0], players[1]])]
        let given: [String: Value] = ["players": .objects([players[0], players[2]])]
        let set = ChangeSet([update(given, base: base, ifVersion: nil)])
        let conflict = try #require(try library.refusal(of: set)?.details.first?.conflict)
        #expect(
            conflict.properties == [
                .init(
                    name: "players", base: base["players"],
                    stored: .objects([players[1], players[0]]), given: given["players"])
            ])
        let kept = try save(.storeWins, update(given, base: base, ifVersion: nil))
        #expect(kept.merged == [0])
        #expect(try library.keys(team, "players") == library.keys([players[1], players[0]]))
        let same = update(
            given, base: ["players": .objects([players[1], players[0]]), "league": nil],
            ifVersion: nil)
        #expect(try save(.error, same).merged == [])
    }

    @Test("changes of one set do not conflict with each other")
    func ownChanges() throws {
        let league = try library.insert("League")
        let result = try save(
            .error, .update(league, ifVersion: 1, values: ["teams": .objects([team])]),
            .update(team, ifVersion: 2, values: ["motto": "n"], base: ["league": nil]))
        #expect(result.updatedVersions == [2, 3])
    }

    @Test("the snapshots of a conflict are limited to the size of a reply")
    func largeSnapshot() throws {
        let large = String(repeating: "x", count: 600_000)
        let set = ChangeSet([update(["motto": .string(large)], base: ["motto": .string(large)])])
        let conflict = try #require(try library.refusal(of: set)?.details.first?.conflict)
        #expect(conflict.properties == [])
        #expect(conflict.storedVersion == 2)
    }
}
