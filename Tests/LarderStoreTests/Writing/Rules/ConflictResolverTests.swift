import LarderModel
import Testing

@testable import LarderSQL
@testable import LarderStore

@Suite("the resolver of conflicts")
struct ConflictResolverTests {
    private let library: Library
    private let team: ObjectKey
    private let motto: Int
    private let name: Int

    init() throws {
        library = try Library(schema: League.schema())
        team = try library.object(
            try library.insert("Team", ["name": "stored", "motto": "stored"]))
        motto = try library.attribute("Team.motto")
        name = try library.attribute("Team.name")
    }

    /// An update of name and motto that is based on another motto.
    private func update() -> PlannedChange {
        var expectation = Expectation()
        expectation.attributes = [(name, .text("stored")), (motto, .text("base"))]
        var values = PlannedValues()
        values.attributes = [(name, .text("new")), (motto, .text("new"))]
        return .update(team, expectation, values)
    }

    private func resolve(
        _ change: PlannedChange, _ policy: MergePolicy
    ) throws -> (change: PlannedChange?, merged: [Int], errors: [String]) {
        try library.withContext { context in
            let set = PlannedChangeSet(
                changes: [change], lastKeys: [], mergePolicy: policy, hasExpectations: true)
            var resolver = ConflictResolver(context)
            let changes = try resolver.resolve(set)
            return (changes[0], resolver.merged, context.summary)
        }
    }

    private func attributes(_ change: PlannedChange?) -> [Int] {
        guard case .update(_, _, let values)? = change else { return [] }
        return values.attributes.map(\.attribute)
    }

    @Test("the conflict resolver leaves a change unchanged that is based on the stored state")
    func noConflict() throws {
        var expectation = Expectation()
        expectation.version = 1
        var values = PlannedValues()
        values.attributes = [(motto, .text("new"))]
        let resolved = try resolve(.update(team, expectation, values), .error)
        #expect(attributes(resolved.change) == [motto])
        #expect(resolved.merged == [] && resolved.errors == [])
    }

    @Test("the conflict resolver applies the merge policy to an update")
    func updates() throws {
        let error = try resolve(update(), .error)
        #expect(error.change == nil && error.errors == ["0 VERSION_CONFLICT"])
        let storeWins = try resolve(update(), .storeWins)
        #expect(attributes(storeWins.change) == [name] && storeWins.merged == [0])
        let callerWins = try resolve(update(), .callerWins)
        #expect(attributes(callerWins.change) == [name, motto] && callerWins.merged == [0])
        let rollback = try resolve(update(), .rollback)
        #expect(rollback.change == nil && rollback.merged == [0] && rollback.errors == [])
    }

    @Test("the conflict resolver adds the base values under overwrite")
    func overwrite() throws {
        var expectation = Expectation()
        expectation.attributes = [(name, .text("base")), (motto, .text("base"))]
        var values = PlannedValues()
        values.attributes = [(motto, .text("new"))]
        let resolved = try resolve(.update(team, expectation, values), .overwrite)
        guard case .update(_, _, let merged)? = resolved.change else {
            Issue.record("the update was skipped")
            return
        }
        #expect(merged.attributes.map(\.value) == [.text("base"), .text("new")])
    }

    @Test("the conflict resolver applies the merge policy to a delete, and to a deleted object")
    func deletes() throws {
        let stale = PlannedChange.delete(team, Expectation(version: 9))
        #expect(try resolve(stale, .error).errors == ["0 VERSION_CONFLICT"])
        #expect(try resolve(stale, .callerWins).change != nil)
        #expect(try resolve(stale, .storeWins).change == nil)
        let gone = PlannedChange.delete(
            ObjectKey(entity: team.entity, key: 8), Expectation(version: 1))
        #expect(try resolve(gone, .error).errors == ["0 OBJECT_NOT_FOUND"])
        #expect(try resolve(gone, .callerWins).errors == [])
    }
}
