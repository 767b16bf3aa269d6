import LarderModel
import LarderQuery
import Testing

@testable import LarderStore

/// A role in a store whose schema got an attribute, an entity and a subentity since the client was
/// built.
@Suite("Users with limited rights whose client was built for a former schema")
struct FormerLimitedViewTests {
    private static let former = """
        { "version": "1.0.0", "entities": [
          { "name": "Task",
            "attributes": [ { "name": "owner", "type": "string" },
                            { "name": "title", "type": "string" },
                            { "name": "cost", "type": "int64", "default": 0 } ] } ] }
        """
    private static let current = """
        { "version": "2.0.0", "entities": [
          { "name": "Task",
            "attributes": [ { "name": "owner", "type": "string" },
                            { "name": "title", "type": "string" },
                            { "name": "cost", "type": "int64", "default": 0 },
                            { "name": "note", "type": "string", "optional": true } ] },
          { "name": "Memo", "attributes": [ { "name": "owner", "type": "string" } ] } ] }
        """
    private static let policy = """
        { "roles": [ { "name": "owner", "entities": {
            "Task": { "read": "owner == $user", "insert": "owner == $user", "history": true,
                      "update": "owner == $user AND note == nil", "hidden": ["cost"] },
            "Memo": { "read": true, "insert": true } } } ] }
        """

    private let store: Store
    private let writer: any StoreWriter
    private let former: Schema
    private let view: any StoreView
    private let rights: Rights

    init() throws {
        former = try SchemaFile.schema(parsing: Self.former)
        let schema = try SchemaFile.schema(parsing: Self.current)
        store = try Store.inMemory(schema: schema)
        writer = try store.makeWriter()
        let policy = try PolicyFile.policy(parsing: Self.policy, for: schema)
        let ann = Principal(user: "ann", userIdentifier: 1_001, groups: [], groupIdentifiers: [])
        let role = try #require(policy.role(of: ann))
        rights = Rights(try RoleRights(role, in: schema, knownTo: former), of: ann)
        let base = try #require(FormerView(former.canonicalText, of: store))
        view = try store.limitedView(rights, for: base)
    }

    private func insert(_ entity: String, _ values: [String: Value]) -> Change {
        .insert(PersistentIdentifier(temporary: "t", entityName: entity), values: values)
    }

    private func code(_ change: Change, as view: (any StoreView)? = nil) throws -> ErrorCode? {
        let request = SaveRequest(ChangeSet([change]), view: view)
        guard case .failure(let error) = try #require(writer.save([request]).first) else {
            return nil
        }
        return error.details.first?.code ?? error.code
    }

    private func titles(where predicate: String) throws -> Int {
        let query = Query.fetch(Fetch("Task", where: .format(predicate)))
        let plan = try view.plan(query, QueryParameters())
        let reader = try store.makeReader()
        let cursor = try reader.open(plan, QueryParameters(), budget: ReadBudget())
        defer { cursor.close() }
        return try cursor.next(bytesMax: 1 << 20, budget: ReadBudget()).batch.rowCount
    }

    @Test("the view has the version of the former schema, and its names that the role may see")
    func names() throws {
        let description = view.storeDescription
        #expect(description.schema.version == "1.0.0")
        #expect(description.fingerprint == former.fingerprint)
        #expect(description.schema.entities.map(\.name) == ["Task"])
        #expect(description.schema.entity(named: "Task")?.allNames.sorted() == ["owner", "title"])
        #expect(rights.historyNames.contains("note", of: "Task") == false)
    }

    @Test("rules hold for reading, and hidden and added names do not exist")
    func reading() throws {
        for owner in ["ann", "bob"] {
            let values: [String: Value] = ["owner": .string(owner), "title": "a", "note": "n"]
            #expect(try code(insert("Task", values)) == nil)
        }
        #expect(try titles(where: "title == 'a'") == 1)
        for name in ["note", "cost"] {
            let error = #expect(throws: LarderError.self) {
                _ = try titles(where: "\(name) != nil")
            }
            #expect(error?.code == .unknownProperty)
        }
    }

    @Test("rules hold for changes, also those about names that the client does not know")
    func writing() throws {
        let own: [String: Value] = ["owner": "ann", "title": "a"]
        #expect(try code(insert("Task", own), as: view) == nil)
        #expect(try code(insert("Task", ["owner": "bob", "title": "b"]), as: view) != nil)
        #expect(try code(insert("Memo", ["owner": "ann"]), as: view) == .unknownEntity)
        #expect(
            try code(insert("Task", ["owner": "ann", "title": "a", "note": "x"]), as: view)
                == .unknownProperty)
        let task = PersistentIdentifier(
            store: store.storeDescription.identifier, entityName: "Task", key: 1)
        let rename = Change.update(task, ifVersion: nil, values: ["title": "new"])
        #expect(try code(rename, as: view) == nil)
        let note = Change.update(task, ifVersion: nil, values: ["note": "locked"])
        #expect(try code(note) == nil)
        #expect(try code(rename, as: view) == .permissionDenied)
    }
}
