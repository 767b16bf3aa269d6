import LarderModel
import LarderQuery
import Testing

@testable import LarderStore

/// A reply may be cached if its object has a stamp: it is then known to be current until the object
/// changes.
@Suite("The stamps of objects for a user with limited rights")
struct RightsStampTests {
    private static let schema = """
        { "version": "1.0.0", "entities": [
          { "name": "List",
            "attributes": [ { "name": "owner", "type": "string" },
                            { "name": "due", "type": "date", "optional": true },
                            { "name": "level", "type": "int64", "default": 0 } ],
            "relationships": [ { "name": "tasks", "destination": "Task", "toMany": true,
                                 "inverse": "list" } ] },
          { "name": "Task", "attributes": [ { "name": "title", "type": "string" } ],
            "relationships": [ { "name": "list", "destination": "List", "inverse": "tasks" } ] },
          { "name": "Tag", "attributes": [ { "name": "name", "type": "string" } ],
            "relationships": [ { "name": "parent", "destination": "Tag",
                                 "inverse": "children" },
                               { "name": "children", "destination": "Tag", "toMany": true,
                                 "inverse": "parent" } ] },
          { "name": "Cart",
            "attributes": [ { "name": "total", "type": "int64", "derived": "items.@sum.size" } ],
            "relationships": [ { "name": "items", "destination": "Item", "toMany": true,
                                 "inverse": "cart" } ] },
          { "name": "Item", "attributes": [ { "name": "size", "type": "int64" } ],
            "relationships": [ { "name": "cart", "destination": "Cart",
                                 "inverse": "items" } ] } ] }
        """

    private let store: Store
    private let writer: any StoreWriter
    private let objects: [PersistentIdentifier]
    private var list: PersistentIdentifier { objects[0] }
    private var task: PersistentIdentifier { objects[1] }
    private var tag: PersistentIdentifier { objects[2] }
    private var cart: PersistentIdentifier { objects[3] }
    private var item: PersistentIdentifier { objects[4] }

    init() throws {
        store = try Store.inMemory(schema: try SchemaFile.schema(parsing: Self.schema))
        writer = try store.makeWriter()
        let list = PersistentIdentifier(temporary: "l", entityName: "List")
        let cart = PersistentIdentifier(temporary: "c", entityName: "Cart")
        let set = ChangeSet([
            .insert(list, values: ["owner": "ann"]),
            .insert(
                PersistentIdentifier(temporary: "t", entityName: "Task"),
                values: ["title": "t", "list": .object(list)]),
            .insert(
                PersistentIdentifier(temporary: "g", entityName: "Tag"), values: ["name": "n"]),
            .insert(cart, values: [:]),
            .insert(
                PersistentIdentifier(temporary: "i", entityName: "Item"),
                values: ["size": 1, "cart": .object(cart)]),
        ])
        objects = try #require(writer.save([set]).first).get().inserted
    }

    /// A reader of ann, who may read lists under a rule, and all tags and items.
    private func reader(
        lists: String = "owner == $user", tasks: String = "true", carts: String = "total >= 0"
    ) throws -> any StoreReader {
        let schema = store.storeDescription.schema
        let tasks = tasks == "true" ? tasks : "\"\(tasks)\""
        let policy = try PolicyFile.policy(
            parsing: """
                { "roles": [ { "name": "r", "entities": {
                    "List": { "read": "\(lists)" }, "Task": { "read": \(tasks) },
                    "Cart": { "read": "\(carts)" }, "Item": { "read": true },
                    "Tag": { "read": true } } } ] }
                """, for: schema)
        let ann = Principal(user: "ann", userIdentifier: 1_001, groups: [], groupIdentifiers: [])
        let role = try #require(policy.role(of: ann))
        let view = try store.limitedView(Rights(try RoleRights(role, in: schema), of: ann))
        return view.reader(over: try store.makeReader())
    }

    @Test(
        "an object has one under a rule that compares its attributes",
        arguments: [
            "owner == $user", "owner == $user AND NOT level > 3", "owner IN {'ann', 'bob'}",
            "level == nil OR owner != 'x'",
        ])
    func attributes(rule: String) throws {
        let reader = try reader(lists: rule)
        let stamp = try #require(reader.stamp(of: list, properties: ["owner"]))
        #expect(store.isCurrent(stamp))
        let update = Change.update(list, ifVersion: nil, values: ["owner": "bob"], edits: [])
        _ = try #require(writer.save([ChangeSet([update])]).first).get()
        #expect(!store.isCurrent(stamp), "the rule may hide the object from now on")
    }

    @Test("the stamp of an object changes with a derived attribute that its rule compares")
    func derived() throws {
        let reader = try reader(carts: "total > 0")
        let stamp = try #require(reader.stamp(of: cart, properties: ["total"]))
        #expect(store.isCurrent(stamp))
        let update = Change.update(item, ifVersion: nil, values: ["size": 0], edits: [])
        _ = try #require(writer.save([ChangeSet([update])]).first).get()
        #expect(!store.isCurrent(stamp), "the total is 0, and the cart is hidden")
    }

    @Test(
        "an object has none under a rule that other objects, or the time, can decide",
        arguments: [
            "ANY tasks.title == 't'", "tasks.@count > 0", "tasks.@count == 1 OR owner == $user",
            "due < now()",
        ])
    func others(rule: String) throws {
        let reader = try reader(lists: rule)
        #expect(reader.stamp(of: list, properties: ["owner"]) == nil)
    }

    @Test("an object has none if the rule for its relationship's objects can hide them")
    func relationships() throws {
        let reader = try reader(lists: "owner == $user", tasks: "list.owner == $user")
        #expect(reader.stamp(of: task, properties: ["title"]) == nil, "by its own rule")
        #expect(reader.stamp(of: list, properties: ["tasks"]) == nil)
        #expect(reader.stamp(of: list, properties: nil) == nil)
        let open = try self.reader(lists: "owner == $user")
        #expect(open.stamp(of: list, properties: nil) != nil, "all tasks can be seen")
        #expect(open.stamp(of: task, properties: nil) == nil, "it names its list")
        #expect(open.stamp(of: task, properties: ["title"]) != nil)
        #expect(open.stamp(of: tag, properties: ["name"]) != nil)
    }
}
