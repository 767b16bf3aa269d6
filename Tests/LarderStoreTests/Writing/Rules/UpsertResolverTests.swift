import LarderModel
import Testing

@testable import LarderSQL
@testable import LarderStore

@Suite("the resolver of upserts")
struct UpsertResolverTests {
    private let library: Library
    private let league: PersistentIdentifier
    private let a: ObjectKey
    private let b: ObjectKey

    init() throws {
        library = try Library(schema: League.schema())
        league = try library.insert("League")
        a = try library.object(try library.insert("Team", ["name": "a"]))
        b = try library.object(
            try library.insert("Team", ["number": 2, "league": .object(league)]))
    }

    private func insert(
        _ values: [String: SQLValue], league: PersistentIdentifier? = nil
    ) throws -> PlannedInsert {
        let entity = library.writer.schema.entities[a.entity]
        var planned = PlannedValues()
        if let league {
            planned.assignments = [
                Assignment(
                    relationship: try library.relationship("Team.league").number,
                    targets: [try library.target(league)])
            ]
        }
        return PlannedInsert(
            object: ObjectKey(entity: a.entity, key: 3),
            row: entity.attributes.map { values[$0.attribute.name] ?? .null }, values: planned,
            missing: [])
    }

    private func match(
        _ values: [String: SQLValue], league: PersistentIdentifier? = nil,
        _ context: ChangeContext, _ uniqueness: UniquenessCheck = UniquenessCheck()
    ) throws -> ObjectKey? {
        let insert = try insert(values, league: league)
        guard case .one(let object) = try UpsertResolver().match(insert, uniqueness, context)
        else { return nil }
        return object
    }

    @Test("the upsert resolver finds an object by one value, or by a combination")
    func found() throws {
        try library.withContext { context in
            let byName = try match(["name": .text("a")], context)
            #expect(byName == a)
            let byNumber = try match(["number": .integer(2)], league: league, context)
            #expect(byNumber == b)
            let byHalf = try match(["number": .integer(2)], context)
            #expect(byHalf == nil)
            let byNewName = try match(["name": .text("c")], context)
            #expect(byNewName == nil)
        }
    }

    @Test("the upsert resolver finds an object whose value is deferred")
    func deferred() throws {
        try library.withContext { context in
            var uniqueness = UniquenessCheck()
            let name = try library.attribute("Team.name")
            _ = try uniqueness.storableValue(.text("a"), of: name, of: b, context)
            try context.execute("UPDATE Team SET name = NULL")
            let found = try match(["name": .text("a")], context, uniqueness)
            #expect(found == b)
            context.deleted.insert(b)
            let afterDelete = try match(["name": .text("a")], context, uniqueness)
            #expect(afterDelete == nil)
        }
    }

    @Test("the upsert resolver rejects an insert that matches two objects")
    func ambiguous() throws {
        try library.withContext { context in
            let insert = try insert(["name": .text("a"), "number": .integer(2)], league: league)
            guard
                case .error(let error) = try UpsertResolver().match(
                    insert, UniquenessCheck(), context)
            else {
                Issue.record("it matched")
                return
            }
            #expect(error.code == .uniquenessViolated)
            #expect(error.message.hasPrefix("the insert matches \(context.uri(of: a)) by "))
        }
    }

    @Test("the upsert resolver replaces the keys of inserts that updated another object")
    func replaced() throws {
        try library.withContext { context in
            var upserts = UpsertResolver()
            let new = ObjectKey(entity: a.entity, key: 3)
            let targets = [
                Assignment.Target(object: new, insertedBy: 0),
                Assignment.Target(object: a, insertedBy: nil),
            ]
            let assignment = Assignment(relationship: 0, targets: targets)
            #expect(upserts.resolve(assignment).targets == targets)
            upserts.replace(new, with: a)
            #expect(upserts.resolve(assignment).targets.map(\.object) == [a])
            let edit = PlannedEdit(
                relationship: 0, kind: .add(.after(targets[0])), targets: targets)
            let resolved = upserts.resolve([edit])[0]
            #expect(resolved.targets.map(\.object) == [a])
            #expect(resolved.named.map(\.object) == [a, a])
            #expect(
                upserts.resolve(context.identifier(of: new), context)
                    == context.identifier(of: a))
            upserts.removeReplacements()
            #expect(upserts.resolve(assignment).targets == targets)
        }
    }
}
