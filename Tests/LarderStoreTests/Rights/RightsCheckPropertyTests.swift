import LarderModel
import LarderQuery
import TestSupport
import Testing

@testable import LarderStore

/// Random changes of users with random rights, compared with a model: the store accepts what the
/// model accepts, and has the same objects afterwards.
@Suite("The rights to change objects, at random")
struct RightsCheckPropertyTests {
    private typealias Model = RightsModel

    @Test("changes of every kind by users with random rights succeed as in a model")
    func changes() throws {
        var random = SeededGenerator.fromEnvironment("random rights to change")
        var (accepted, refused) = ([String: Int](), [String: Int]())
        for role in 0..<RandomTesting.iterations(30) {
            var one = SeededGenerator(seed: random.next())
            do {
                try run(&one, &accepted, &refused)
            } catch {
                Issue.record("role \(role), seed \(one.seed): \(error)")
                return
            }
        }
        // Changes that are always refused, or never, would test little.
        for kind in Self.kinds {
            #expect((accepted[kind] ?? 0) + (refused[kind] ?? 0) > 0, "no \(kind)")
        }
        let counts = [accepted, refused].map { $0.values.reduce(0, +) }
        #expect(counts[0] > counts[1] / 10 && counts[1] > counts[0] / 10)
    }

    private struct Difference: Error, CustomStringConvertible {
        let description: String
    }

    private static let kinds = [
        "insertList", "insertTask", "updateList", "updateTask", "setTasks", "addTask",
        "removeTask", "deleteList", "deleteTask", "setDone", "setCost", "deleteTasks",
        "deleteLists",
    ]

    private func run(
        _ random: inout SeededGenerator, _ accepted: inout [String: Int],
        _ refused: inout [String: Int]
    ) throws {
        let store = try Store.inMemory(schema: Self.schema())
        let (writer, reader) = (try store.makeWriter(), try store.makeReader())
        var model = Self.model(&random)
        let role = Self.role(model)
        let rights = Rights(try RoleRights(role, in: store.storeDescription.schema), of: Self.ann)
        let view = try store.limitedView(rights)
        try fill(&model, store, writer, &random)
        for _ in 0..<40 {
            guard let change = Self.change(model, &random) else { continue }
            let kind = "\(change)".prefix { $0 != "(" }
            let set = Self.set(change, model, store)
            let outcome = try #require(writer.save([SaveRequest(set, view: view)]).first)
            let inserted = try? outcome.get().inserted.first?.permanentKey
            let expected = model.after(change, inserting: inserted ?? -1)
            let text = "\(change) by \(role.entities.mapValues(\.rules)) of \(model)"
            switch (outcome, expected) {
            case (.success, let expected?):
                model = expected
                accepted[String(kind), default: 0] += 1
            case (.failure, nil): refused[String(kind), default: 0] += 1
            case (.success, nil): throw Difference(description: "accepted: \(text)")
            case (.failure(let error), _?):
                throw Difference(description: "refused: \(text): \(error)")
            }
            let found = try Self.objects(reader, store)
            guard found.lists == model.lists, found.tasks == model.tasks else {
                throw Difference(description: "\(text): \(found), not \(model)")
            }
        }
    }

    // MARK: Random rights, objects and changes

    private static let ann = Principal(
        user: Model.user, userIdentifier: 1_001, groups: [], groupIdentifiers: [])

    private static func model(_ random: inout SeededGenerator) -> Model {
        func rights(_ random: inout SeededGenerator, isRead: Bool = false) -> Model.Rights {
            let lists = Model.ListRule.allCases.filter { !isRead || $0 != .denied }
            let tasks = Model.TaskRule.allCases.filter { !isRead || $0 != .denied }
            return Model.Rights(
                list: lists.randomElement(using: &random) ?? .granted,
                task: tasks.randomElement(using: &random) ?? .granted)
        }
        return Model(
            read: rights(&random, isRead: true), insert: rights(&random),
            update: rights(&random), delete: rights(&random))
    }

    private static func role(_ model: Model) -> Role {
        func rule(_ text: String) -> EntityRights.Rule {
            text == "true" ? .granted : text == "false" ? .denied : .when(text)
        }
        func entity(_ text: (Model.Rights) -> String) -> EntityRights {
            EntityRights(rules: [
                .read: rule(text(model.read)), .insert: rule(text(model.insert)),
                .update: rule(text(model.update)), .delete: rule(text(model.delete)),
            ])
        }
        var role = Role(name: "random")
        role.entities["List"] = entity(\.list.rawValue)
        role.entities["Task"] = entity(\.task.rawValue)
        return role
    }

    private func fill(
        _ model: inout Model, _ store: Store, _ writer: any StoreWriter,
        _ random: inout SeededGenerator
    ) throws {
        for _ in 0..<6 {
            let list = Self.list(&random)
            let set = Self.set(.insertList(list), model, store)
            let key = try writer.save([set])[0].get().inserted.first?.permanentKey
            model.lists[try #require(key)] = list
        }
        for number in 0..<12 {
            let task = Self.task("t\(number)", model, &random)
            let set = Self.set(.insertTask(task, upserting: false), model, store)
            let key = try writer.save([set])[0].get().inserted.first?.permanentKey
            model.tasks[try #require(key)] = task
        }
    }

    private static func list(_ random: inout SeededGenerator) -> Model.List {
        Model.List(
            owner: Bool.random(using: &random) ? Model.user : "bob",
            size: .random(in: 0...5, using: &random))
    }

    private static func task(
        _ title: String, _ model: Model, _ random: inout SeededGenerator
    ) -> Model.Task {
        let lists = model.lists.keys.sorted()
        return Model.Task(
            title: title, done: .random(using: &random), cost: .random(in: 0...9, using: &random),
            list: Int.random(in: 0..<4, using: &random) == 0
                ? nil : lists.randomElement(using: &random))
    }

    /// nil if there is no object for it.
    private static func change(
        _ model: Model, _ random: inout SeededGenerator
    ) -> Model.Change? {
        let list = model.lists.keys.sorted().randomElement(using: &random)
        let task = model.tasks.keys.sorted().randomElement(using: &random)
        guard let list, let task, let known = model.tasks[task] else {
            return .insertList(Self.list(&random))
        }
        let number = Int64.random(in: 0...9, using: &random)
        switch Int.random(in: 0..<14, using: &random) {
        case 0: return .insertList(Self.list(&random))
        case 1:
            let title = "n\(UInt64.random(in: 0...UInt64.max, using: &random))"
            return .insertTask(Self.task(title, model, &random), upserting: false)
        case 2:
            let upserting = Int.random(in: 0..<4, using: &random) > 0
            return .insertTask(Self.task(known.title, model, &random), upserting: upserting)
        case 3: return .updateList(list, Self.list(&random))
        case 4, 5:
            var changed = Self.task(known.title, model, &random)
            if Bool.random(using: &random) { changed.list = known.list }
            return .updateTask(task, changed)
        case 6:
            let keys = model.tasks.keys.sorted().filter { _ in
                Int.random(in: 0..<4, using: &random) == 0
            }
            return .setTasks(list, keys)
        case 7: return known.list == list ? nil : .addTask(list, task)
        case 8: return known.list.map { .removeTask($0, task) }
        case 9: return .deleteList(list)
        case 10: return .deleteTask(task)
        case 11:
            return Bool.random(using: &random)
                ? .setDone(costBelow: number, .random(using: &random))
                : .setCost(costBelow: number, .random(in: 0...9, using: &random))
        case 12: return .deleteTasks(costBelow: .random(in: 0...3, using: &random))
        default: return .deleteLists(sizeBelow: .random(in: 0...2, using: &random))
        }
    }

    // MARK: The store

    /// The change set of a change. An update sets only what differs from the model.
    private static func set(
        _ change: Model.Change, _ model: Model, _ store: Store
    ) -> ChangeSet {
        func list(_ key: Int64) -> PersistentIdentifier {
            PersistentIdentifier(
                store: store.storeDescription.identifier, entityName: "List", key: key)
        }
        func task(_ key: Int64) -> PersistentIdentifier {
            PersistentIdentifier(
                store: store.storeDescription.identifier, entityName: "Task", key: key)
        }
        func values(_ one: Model.List, from other: Model.List? = nil) -> [String: Value] {
            var values: [String: Value] = [:]
            if one.owner != other?.owner { values["owner"] = .string(one.owner) }
            if one.size != other?.size { values["size"] = .int(one.size) }
            return values
        }
        func values(_ one: Model.Task, from other: Model.Task? = nil) -> [String: Value] {
            var values: [String: Value] = [:]
            if one.title != other?.title { values["title"] = .string(one.title) }
            if one.done != other?.done { values["done"] = .bool(one.done) }
            if one.cost != other?.cost { values["cost"] = .int(one.cost) }
            // An insert that updates a task keeps what it does not set.
            if other == nil || one.list != other?.list {
                values["list"] = one.list.map { .object(list($0)) } ?? .null
            }
            return values
        }
        func update(
            _ object: PersistentIdentifier, _ values: [String: Value],
            _ edits: [RelationshipEdit] = []
        ) -> Change { .update(object, ifVersion: nil, values: values, edits: edits) }
        let new = { PersistentIdentifier(temporary: "new", entityName: $0) }
        let cheap = { (cost: Int64) in
            ObjectSelection("Task", where: .format("cost < \(cost)"))
        }
        var policy = UniqueConflictPolicy.error
        let made: Change
        switch change {
        case .insertList(let one): made = .insert(new("List"), values: values(one))
        case .insertTask(let one, let upserting):
            if upserting { policy = .upsert }
            made = .insert(new("Task"), values: values(one))
        case .updateList(let key, let one):
            made = update(list(key), values(one, from: model.lists[key]))
        case .updateTask(let key, let one):
            made = update(task(key), values(one, from: model.tasks[key]))
        case .setTasks(let key, let keys):
            made = update(list(key), ["tasks": .objects(keys.map(task))])
        case .addTask(let key, let one):
            made = update(list(key), [:], [.add([task(one)], to: "tasks")])
        case .removeTask(let key, let one):
            made = update(list(key), [:], [.remove([task(one)], from: "tasks")])
        case .deleteList(let key): made = .delete(list(key), ifVersion: nil)
        case .deleteTask(let key): made = .delete(task(key), ifVersion: nil)
        case .setDone(let cost, let done):
            made = .updateAll(cheap(cost), set: [PropertyAssignment("done", to: .bool(done))])
        case .setCost(let below, let cost):
            made = .updateAll(cheap(below), set: [PropertyAssignment("cost", to: .int(cost))])
        case .deleteTasks(let cost): made = .deleteAll(cheap(cost))
        case .deleteLists(let size):
            made = .deleteAll(ObjectSelection("List", where: .format("size < \(size)")))
        }
        return ChangeSet([made], onUniqueConflict: policy)
    }

    /// All objects of the store, without rights.
    private static func objects(_ reader: any StoreReader, _ store: Store) throws -> Model {
        func batch(_ entity: String, _ names: [String]) throws -> Batch {
            let columns = names.map { QueryColumn($0) }
            let query = Query.fetch(Fetch(entity, selection: .columns(columns)))
            let plan = try store.plan(query, QueryParameters())
            let cursor = try reader.open(plan, QueryParameters(), budget: ReadBudget())
            defer { cursor.close() }
            return try cursor.next(bytesMax: 1 << 20, budget: ReadBudget()).batch
        }
        let identifier = store.storeDescription.identifier
        var model = Model()
        let lists = try batch("List", ["owner", "size"])
        for row in 0..<lists.rowCount {
            let values = lists.columns.map { $0.value(at: row, store: identifier) }
            guard case .string(let owner) = values[0], case .int(let size) = values[1],
                let key = lists.identity?.keys[row]
            else { throw Difference(description: "a list has \(values)") }
            model.lists[key] = Model.List(owner: owner, size: size)
        }
        let tasks = try batch("Task", ["title", "done", "cost", "list"])
        for row in 0..<tasks.rowCount {
            let values = tasks.columns.map { $0.value(at: row, store: identifier) }
            guard case .string(let title) = values[0], case .bool(let done) = values[1],
                case .int(let cost) = values[2], let key = tasks.identity?.keys[row]
            else { throw Difference(description: "a task has \(values)") }
            var list: Int64?
            if case .object(let object) = values[3] { list = object.permanentKey }
            model.tasks[key] = Model.Task(title: title, done: done, cost: cost, list: list)
        }
        return model
    }

    private static func schema() throws -> Schema {
        try SchemaFile.schema(
            parsing: """
                { "version": "1.0.0", "entities": [
                  { "name": "List",
                    "attributes": [ { "name": "owner", "type": "string" },
                                    { "name": "size", "type": "int64" } ],
                    "relationships": [ { "name": "tasks", "destination": "Task", "toMany": true,
                                         "inverse": "list", "deleteRule": "cascade" } ] },
                  { "name": "Task",
                    "attributes": [ { "name": "title", "type": "string", "unique": true },
                                    { "name": "done", "type": "bool" },
                                    { "name": "cost", "type": "int64" } ],
                    "relationships": [
                      { "name": "list", "destination": "List", "inverse": "tasks" } ] } ] }
                """)
    }
}
