import LarderModel
import LarderQuery
import Testing

@testable import LarderStore

/// Changes of a user who sees and changes the lists that the user owns, and their tasks.
@Suite("The rights to change objects")
struct RightsCheckTests {
    /// Names of objects: `a` belongs to ann, `b` to bob.
    private struct Fixture {
        let store: Store
        let writer: any StoreWriter
        let view: any StoreView
        var objects: [String: PersistentIdentifier] = [:]

        init() throws {
            store = try Store.inMemory(schema: RightsCheckTests.schema())
            writer = try store.makeWriter()
            let policy = try PolicyFile.policy(
                parsing: RightsCheckTests.policy, for: store.storeDescription.schema)
            let ann = Principal(
                user: "ann", userIdentifier: 1_001, groups: [], groupIdentifiers: [])
            let role = try #require(policy.role(of: ann))
            view = try store.limitedView(
                Rights(try RoleRights(role, in: store.storeDescription.schema), of: ann))
            let names = ["listA", "listB", "taskA", "taskB", "tag", "labelA", "labelB", "memoA"]
            let changes = [
                insert("List", "listA", ["owner": "ann"]),
                insert("List", "listB", ["owner": "bob"]),
                insert("Task", "taskA", ["title": "a", "list": temporary("listA", "List")]),
                insert("Task", "taskB", ["title": "b", "list": temporary("listB", "List")]),
                insert(
                    "Tag", "tag",
                    [
                        "name": "t",
                        "tasks": .objects([
                            PersistentIdentifier(temporary: "taskA", entityName: "Task"),
                            PersistentIdentifier(temporary: "taskB", entityName: "Task"),
                        ]),
                    ]),
                insert("Label", "labelA", ["task": temporary("taskA", "Task"), "text": "a"]),
                insert("Label", "labelB", ["task": temporary("taskB", "Task"), "text": "b"]),
                insert("Memo", "memoA", ["title": "m", "list": temporary("listA", "List")]),
            ]
            let saved = try #require(writer.save([ChangeSet(changes)]).first).get()
            objects = Dictionary(uniqueKeysWithValues: zip(names, saved.inserted))
        }

        func insert(_ entity: String, _ name: String, _ values: [String: Value]) -> Change {
            .insert(PersistentIdentifier(temporary: name, entityName: entity), values: values)
        }

        func temporary(_ name: String, _ entity: String) -> Value {
            .object(PersistentIdentifier(temporary: name, entityName: entity))
        }

        func update(
            _ name: String, _ values: [String: Value], edits: [RelationshipEdit] = []
        ) throws -> Change {
            .update(
                try #require(objects[name]), ifVersion: nil, values: values, edits: edits)
        }

        func object(_ name: String) throws -> Value { .object(try #require(objects[name])) }

        /// The code of the error; nil if ann has saved the changes.
        func save(_ changes: [Change], upserting: Bool = false) throws -> ErrorCode? {
            let set = ChangeSet(changes, onUniqueConflict: upserting ? .upsert : .error)
            let outcome = try #require(writer.save([SaveRequest(set, view: view)]).first)
            guard case .failure(let error) = outcome else { return nil }
            return error.details.first?.code ?? error.code
        }
    }

    private static func schema() throws -> Schema {
        try SchemaFile.schema(
            parsing: """
                { "version": "1.0.0", "entities": [
                  { "name": "List", "attributes": [ { "name": "owner", "type": "string" } ],
                    "relationships": [ { "name": "tasks", "destination": "Task", "toMany": true,
                                         "inverse": "list", "deleteRule": "cascade" } ] },
                  { "name": "Task",
                    "attributes": [ { "name": "title", "type": "string", "unique": true },
                                    { "name": "done", "type": "bool", "default": false },
                                    { "name": "cost", "type": "int64", "default": 0 } ],
                    "relationships": [
                      { "name": "list", "destination": "List", "inverse": "tasks" },
                      { "name": "tags", "destination": "Tag", "toMany": true,
                        "inverse": "tasks" },
                      { "name": "label", "destination": "Label", "inverse": "task" } ] },
                  { "name": "Memo", "parent": "Task" },
                  { "name": "Label", "attributes": [ { "name": "text", "type": "string" } ],
                    "relationships": [
                      { "name": "task", "destination": "Task", "inverse": "label" } ] },
                  { "name": "Tag", "attributes": [ { "name": "name", "type": "string" } ],
                    "relationships": [
                      { "name": "tasks", "destination": "Task", "toMany": true,
                        "inverse": "tags" } ] } ] }
                """)
    }

    private static let policy = """
        { "roles": [ { "name": "owner", "entities": {
            "List": { "read": "owner == $user", "insert": "owner == $user",
                      "update": "owner == $user", "delete": "owner == $user" },
            "Task": { "read": "list == nil OR list.owner == $user", "insert": true,
                      "update": "list == nil OR list.owner == $user",
                      "delete": "done == true AND list.owner == $user",
                      "hidden": ["cost"], "frozen": ["title"] },
            "Label": { "read": "task == nil OR task.list.owner == $user", "update": true,
                       "insert": true },
            "Tag": { "read": true, "update": true } } } ] }
        """

    @Test("an insert needs the right for the new object, and visible destinations")
    func inserts() throws {
        let fixture = try Fixture()
        let own = fixture.insert("List", "x", ["owner": "ann"])
        #expect(try fixture.save([own]) == nil)
        let other = fixture.insert("List", "y", ["owner": "bob"])
        #expect(try fixture.save([other]) == .permissionDenied)
        #expect(try fixture.save([own, other]) == .permissionDenied, "nothing of both is stored")
        let tag = fixture.insert("Tag", "x", ["name": "x"])
        #expect(try fixture.save([tag]) == .permissionDenied, "there is no right to insert tags")
        for (list, expected) in [("listA", nil), ("listB", ErrorCode.objectNotFound)] {
            let task = fixture.insert(
                "Task", "x", ["title": .string("new \(list)"), "list": try fixture.object(list)])
            #expect(try fixture.save([task]) == expected, "in \(list)")
        }
        let hidden = fixture.insert("Task", "x", ["title": "h", "cost": 1])
        #expect(try fixture.save([hidden]) == .unknownProperty)
    }

    @Test("an update needs the right before and after it")
    func updates() throws {
        let fixture = try Fixture()
        #expect(try fixture.save([fixture.update("taskA", ["done": true])]) == nil)
        #expect(try fixture.save([fixture.update("taskB", ["done": true])]) == .objectNotFound)
        #expect(
            try fixture.save([fixture.update("listA", ["owner": "bob"])]) == .permissionDenied)
        #expect(try fixture.save([fixture.update("taskA", ["title": "z"])]) == .permissionDenied)
        #expect(try fixture.save([fixture.update("memoA", ["done": true])]) == nil)
        #expect(try fixture.save([fixture.update("memoA", ["title": "z"])]) == .permissionDenied)
        let moved = ["list": try fixture.object("listB")]
        #expect(try fixture.save([fixture.update("taskA", moved)]) == .objectNotFound)
    }

    @Test("an object is not reached from the other side of a relationship")
    func inverses() throws {
        let fixture = try Fixture()
        let taskB = try #require(fixture.objects["taskB"])
        #expect(
            try fixture.save([fixture.update("listA", ["tasks": .objects([taskB])])])
                == .objectNotFound)
        let add = RelationshipEdit.add([taskB], to: "tasks")
        #expect(try fixture.save([fixture.update("listA", [:], edits: [add])]) == .objectNotFound)
        let label = try fixture.update("labelA", ["task": .object(taskB)])
        #expect(try fixture.save([label]) == .objectNotFound)
        // The list has a member that the user does not see, and may not remove.
        let tags = try fixture.update("tag", ["tasks": .objects([])])
        #expect(try fixture.save([tags]) == .permissionDenied)
        let taskA = try #require(fixture.objects["taskA"])
        let remove = RelationshipEdit.remove([taskA], from: "tasks")
        #expect(try fixture.save([fixture.update("tag", [:], edits: [remove])]) == nil)
    }

    @Test("a deletion needs the right for each object that it cascades to")
    func deletions() throws {
        let fixture = try Fixture()
        func delete(_ name: String) throws -> ErrorCode? {
            try fixture.save([.delete(try #require(fixture.objects[name]), ifVersion: nil)])
        }
        #expect(try delete("taskB") == .objectNotFound)
        #expect(try delete("taskA") == .permissionDenied, "it is not done")
        #expect(try delete("tag") == .permissionDenied, "there is no right to delete tags")
        #expect(try delete("listA") == .permissionDenied, "it has a task that is not done")
        #expect(try fixture.save([fixture.update("taskA", ["done": true])]) == nil)
        #expect(try fixture.save([fixture.update("memoA", ["done": true])]) == nil)
        #expect(try delete("listA") == nil)
    }

    @Test("a change by predicate selects the objects for which the user has the right")
    func bulkChanges() throws {
        let fixture = try Fixture()
        let all = ObjectSelection("Task")
        #expect(
            try fixture.save([.updateAll(all, set: [PropertyAssignment("done", to: true)])])
                == nil)
        let reader = try fixture.store.makeReader()
        func done() throws -> Int {
            let query = Query.fetch(Fetch("Task", where: .format("done == true")))
            let plan = try fixture.store.plan(query, QueryParameters())
            let cursor = try reader.open(plan, QueryParameters(), budget: ReadBudget())
            defer { cursor.close() }
            return try cursor.next(bytesMax: 1 << 20, budget: ReadBudget()).batch.rowCount
        }
        #expect(try done() == 2, "the tasks of ann, of both entities")
        #expect(try fixture.save([.deleteAll(all)]) == nil)
        #expect(try done() == 0)
        let title = PropertyAssignment("title", to: "z")
        #expect(try fixture.save([.updateAll(all, set: [title])]) == .permissionDenied)
        let cost = PropertyAssignment("cost", to: 1)
        #expect(try fixture.save([.updateAll(all, set: [cost])]) == .unknownProperty)
    }

    @Test("an insert that would update an object needs the right for that object")
    func upserts() throws {
        let fixture = try Fixture()
        let own = fixture.insert("Task", "x", ["title": "a", "done": true])
        #expect(try fixture.save([own], upserting: true) == nil)
        let other = fixture.insert("Task", "x", ["title": "b", "done": true])
        #expect(try fixture.save([other], upserting: true) == .permissionDenied)
        #expect(try fixture.save([other]) == .uniquenessViolated)
    }

    @Test("an error does not name an object that the user does not see")
    func errors() throws {
        let fixture = try Fixture()
        let set = ChangeSet([fixture.insert("Task", "x", ["title": "b"])])
        let outcome = try #require(
            fixture.writer.save([SaveRequest(set, view: fixture.view)]).first)
        guard case .failure(let error) = outcome else {
            Issue.record("the title is unique")
            return
        }
        #expect(!"\(error)".contains("x-coredata"))
        #expect(error.details.allSatisfy { $0.uri == nil })
    }

    @Test("rows of a stream need the same rights as inserts")
    func rows() throws {
        let fixture = try Fixture()
        let description = fixture.store.storeDescription
        let entity = try #require(description.schema.entity(named: "List"))
        func insert(_ owners: [String]) throws -> ErrorCode? {
            var builder = try RowBuilder(
                entity, ["owner"], in: description.schema, store: description.identifier)
            for owner in owners { try builder.append([.string(owner)]) }
            let request = InsertionRequest(Insertion("List"), view: fixture.view)
            let outcome = fixture.writer.insert(
                request, firstRow: 0, Batches([builder.take()]))
            guard case .failure(let error) = outcome else { return nil }
            return error.details.first?.code ?? error.code
        }
        #expect(try insert(["ann", "ann"]) == nil)
        #expect(try insert(["ann", "bob"]) == .permissionDenied)
    }
}
