import LarderModel
import Testing

@testable import LarderSQL
@testable import LarderStore

@Suite("the check of uniqueness")
struct UniquenessCheckTests {
    private let library: Library
    private let a: ObjectKey
    private let b: ObjectKey
    private let entity: StoredEntity
    private let name: Int

    init() throws {
        library = try Library(schema: League.schema())
        let league = Value.object(try library.insert("League"))
        a = try library.object(
            try library.insert("Team", ["name": "a", "number": 1, "league": league]))
        b = try library.object(
            try library.insert("Team", ["name": "b", "number": 2, "league": league]))
        entity = library.writer.schema.entities[a.entity]
        name = try library.attribute("Team.name")
    }

    private func names(_ context: ChangeContext) throws -> [SQLValue] {
        try context.values("SELECT name FROM Team ORDER BY _id")
    }

    @Test("the uniqueness check defers a value in use, and stores it once it is free")
    func deferred() throws {
        try library.withContext { context in
            var check = UniquenessCheck()
            #expect(try check.storableValue(.text("c"), of: name, of: b, context) == .text("c"))
            #expect(check.recordCount == 0)
            #expect(try check.storableValue(.text("a"), of: name, of: b, context) == .null)
            #expect(check.deferredValue(of: name, of: b, entity) == .text("a"))
            #expect(check.object(withDeferred: .text("a"), 0, of: entity, context) == b)
            try context.execute("UPDATE Team SET name = NULL")
            try check.check(context)
            #expect(context.errors.isEmpty)
            #expect(try names(context) == [.null, .text("a")])
        }
    }

    @Test("the uniqueness check reports a deferred value that is not free at the end")
    func violation() throws {
        try library.withContext { context in
            var check = UniquenessCheck()
            context.changeIndex = 4
            _ = try check.storableValue(.text("a"), of: name, of: b, context)
            context.changeIndex = nil
            try check.check(context)
            #expect(context.summary == ["4 UNIQUENESS_VIOLATED"])
            #expect(try names(context) == [.text("a"), .text("b")])
        }
    }

    @Test("the uniqueness check drops a deferred value when another one is stored")
    func replaced() throws {
        try library.withContext { context in
            var check = UniquenessCheck()
            _ = try check.storableValue(.text("a"), of: name, of: b, context)
            #expect(try check.storableValue(.text("c"), of: name, of: b, context) == .text("c"))
            #expect(check.recordCount == 0)
            _ = try check.storableValue(.text("a"), of: name, of: b, context)
            try context.execute("DELETE FROM Team WHERE _id = 2")
            try check.check(context)
            #expect(context.errors.isEmpty)
        }
    }

    @Test("the uniqueness check stores freed values before a predicate reads them")
    func freed() throws {
        try library.withContext { context in
            var check = UniquenessCheck()
            _ = try check.storableValue(.text("a"), of: name, of: b, context)
            try check.storeFreedValues(context)
            #expect(check.deferredValue(of: name, of: b, entity) == .text("a"))
            try context.execute("UPDATE Team SET name = 'z' WHERE _id = 1")
            try check.storeFreedValues(context)
            #expect(check.deferredValue(of: name, of: b, entity) == nil)
            #expect(try names(context) == [.text("z"), .text("a")])
        }
    }

    @Test("the uniqueness check reports one error for two objects with the same combination")
    func combination() throws {
        try library.withContext { context in
            var check = UniquenessCheck()
            try check.record(a, in: entity.constraints.indices, context)
            #expect(!check.hasCandidates)
            try context.execute("UPDATE Team SET number = 2 WHERE _id = 1")
            for (change, object) in [a, b].enumerated() {
                context.changeIndex = change
                try check.record(object, in: entity.constraints.indices, context)
            }
            #expect(check.hasCandidates && check.recordCount == 2)
            try check.check(context)
            #expect(context.summary == ["0 UNIQUENESS_VIOLATED"])
        }
    }

    @Test("the uniqueness check ignores a combination that is unique again at the end")
    func corrected() throws {
        try library.withContext { context in
            var check = UniquenessCheck()
            try context.execute("UPDATE Team SET number = 2 WHERE _id = 1")
            try check.record(a, in: entity.constraints.indices, context)
            try context.execute("UPDATE Team SET number = 1 WHERE _id = 2")
            try check.check(context)
            #expect(context.errors.isEmpty)
        }
    }
}
