import FoundationEssentials
import LarderModel
import TestSupport

/// A query with one way through the planner, and its result in a ``RightsWorld``.
struct RightsRead {
    let name: String
    let query: Query
    var parameters = QueryParameters()
    /// The names in the query. If the user's schema lacks one of these, the query fails.
    let names: [String]
    var isOrdered = false
    /// The rows, with `|` between their columns, for the objects that the user may read.
    let rows: (RightsWorld, UserRights) -> [String]

    static let owners = ["4000001", "4000002", "root", "nobody"]

    private static func fetch(
        _ entity: String, _ predicate: String?, _ columns: [String], sort: [SortKey] = [],
        isDistinct: Bool = false
    ) -> Query {
        .fetch(
            Fetch(
                entity, where: predicate.map { .format($0) }, sort: sort,
                selection: .columns(columns.map { QueryColumn($0) }), isDistinct: isDistinct))
    }

    static func text(_ value: String?) -> String { value ?? "nil" }
    static func text(_ value: Int64?) -> String { value.map(String.init) ?? "nil" }

    /// Every read, with random values.
    static func all(using generator: inout SeededGenerator) -> [RightsRead] {
        let number = Int64.random(in: 0...9, using: &generator)
        let owner = owners.randomElement(using: &generator) ?? ""
        return attributes(number) + paths(number, owner) + collections(number, owner)
            + aggregates(number)
    }

    private static func attributes(_ number: Int64) -> [RightsRead] {
        [
            RightsRead(
                name: "predicate",
                query: fetch("Task", "cost < \(number)", ["title", "done"], sort: ["title"]),
                names: ["Task.cost"], isOrdered: true
            ) { world, _ in
                world.tasks.values.filter { $0.cost < number }.map { "\($0.title)|\($0.done)" }
                    .sorted()
            },
            RightsRead(
                name: "values",
                query: .fetch(
                    Fetch(
                        "Task", where: .format("done == true"), sort: ["title"],
                        selection: .values(["title"]))),
                names: ["Task"], isOrdered: true
            ) { world, _ in world.tasks.values.filter(\.done).map(\.title).sorted() },
            RightsRead(
                name: "limit", query: fetch("Task", nil, ["title"], sort: ["title"]),
                parameters: QueryParameters(limit: 3, offset: 1), names: ["Task"], isOrdered: true
            ) { world, _ in Array(world.tasks.values.map(\.title).sorted().dropFirst().prefix(3)) },
            RightsRead(
                name: "search",
                query: fetch("Task", "SEARCH(note, 'apple')", ["title"], sort: ["title"]),
                names: ["Task.note"], isOrdered: true
            ) { world, _ in
                world.tasks.values.filter { $0.note?.contains("apple") ?? false }.map(\.title)
                    .sorted()
            },
            RightsRead(
                name: "contains",
                query: .count(entityName: "Task", predicate: .format("note CONTAINS 'red'")),
                names: ["Task.note"]
            ) { world, _ in
                ["\(world.tasks.values.count { $0.note?.contains("red") ?? false })"]
            },
            RightsRead(
                name: "subentity", query: fetch("Memo", nil, ["title"]), names: ["Memo"]
            ) { world, _ in world.tasks.values.filter(\.isMemo).map(\.title) },
            RightsRead(
                name: "objects", query: .fetch(Fetch("Task")),
                names: ["Task"]
            ) { world, rights in world.tasks.map { object($0.key, $0.value, rights) } },
            RightsRead(
                name: "uniqueKey",
                query: .count(
                    entityName: "Task",
                    predicate: .format("title BEGINSWITH 'zqt' AND cost >= \(number)")),
                names: ["Task.cost"]
            ) { world, _ in ["\(world.tasks.values.count { $0.cost >= number })"] },
        ]
    }

    /// The properties of a task that the user's schema has, in the order of their names, after its
    /// identifier.
    static func object(
        _ key: Int64, _ task: RightsWorld.Task, _ rights: UserRights, includesLists: Bool = false
    ) -> String {
        var values = [
            ("cost", "\(task.cost)"), ("done", "\(task.done)"),
            ("list", task.list.map { "List/\($0)" } ?? "nil"), ("note", text(task.note)),
        ]
        if includesLists {
            values.append(
                ("tags", task.tags.sorted().map { "Tag/\($0)" }.joined(separator: ",")))
        }
        values.append(("title", task.title))
        let known = values.filter { rights.has(name: "Task.\($0.0)") }.map(\.1)
        return (["\(task.entityName)/\(key)"] + known).joined(separator: "|")
    }

    private static func paths(_ number: Int64, _ owner: String) -> [RightsRead] {
        [
            RightsRead(
                name: "keyPath",
                query: fetch("Task", "list.owner == '\(owner)'", ["title", "list.size"]),
                names: ["Task.list", "List.size"]
            ) { world, _ in
                world.tasks.values.filter { world.owner(of: $0) == owner }.map {
                    "\($0.title)|\(text($0.list.flatMap { world.lists[$0]?.size }))"
                }
            },
            RightsRead(
                name: "reference",
                query: .count(entityName: "Task", predicate: .format("list == nil")),
                names: ["Task.list"]
            ) { world, _ in ["\(world.tasks.values.count { $0.list == nil })"] },
            RightsRead(
                name: "negation",
                query: .count(
                    entityName: "Task", predicate: .format("NOT (list.owner == '\(owner)')")),
                names: ["Task.list", "List"]
            ) { world, _ in ["\(world.tasks.values.count { world.owner(of: $0) != owner })"] },
            RightsRead(
                name: "sort", query: fetch("Task", nil, ["title"], sort: ["list.size", "title"]),
                names: ["Task.list", "List.size"], isOrdered: true
            ) { world, _ in
                world.tasks.values.map {
                    (size: $0.list.flatMap { world.lists[$0]?.size } ?? .min, title: $0.title)
                }.sorted { ($0.size, $0.title) < ($1.size, $1.title) }.map(\.title)
            },
            RightsRead(
                name: "distinct", query: fetch("Task", nil, ["list.owner"], isDistinct: true),
                names: ["Task.list", "List"]
            ) { world, _ in Array(Set(world.tasks.values.map { text(world.owner(of: $0)) })) },
            RightsRead(
                name: "long path",
                query: .count(
                    entityName: "Tag", predicate: .format("ANY tasks.list.size > \(number / 2)")),
                names: ["Tag.tasks", "Task.list", "List.size"]
            ) { world, _ in
                let count = world.tags.keys.count { tag in
                    world.tasks(ofTag: tag).values.contains {
                        $0.list.flatMap { world.lists[$0]?.size }.map { $0 > number / 2 } ?? false
                    }
                }
                return ["\(count)"]
            },
        ]
    }

    private static func collections(_ number: Int64, _ owner: String) -> [RightsRead] {
        func count(
            _ entity: String, _ text: String, _ names: [String],
            _ matches: @escaping (RightsWorld, Int64) -> Bool
        ) -> RightsRead {
            RightsRead(
                name: String(text.prefix { $0 != "\u{20}" && $0 != "(" }),
                query: .count(entityName: entity, predicate: .format(text)), names: names
            ) { world, _ in
                let keys = entity == "List" ? Array(world.lists.keys) : Array(world.tags.keys)
                return ["\(keys.count { matches(world, $0) })"]
            }
        }
        return [
            count("List", "tasks.@count > \(number / 4)", ["List.tasks"]) {
                $0.tasks(ofList: $1).count > number / 4
            },
            count("List", "ANY tasks.cost > \(number)", ["List.tasks", "Task.cost"]) {
                $0.tasks(ofList: $1).values.contains { $0.cost > number }
            },
            count("List", "ALL tasks.done == true", ["List.tasks"]) {
                $0.tasks(ofList: $1).values.allSatisfy(\.done)
            },
            count("List", "NONE tasks.done == true", ["List.tasks"]) {
                !$0.tasks(ofList: $1).values.contains(where: \.done)
            },
            count(
                "List",
                "SUBQUERY(tasks, $t, $t.done == true AND ANY $t.tags.name == '\(owner)')"
                    + ".@count > 0",
                ["List.tasks", "Task.tags", "Tag"]
            ) { world, list in
                world.tasks(ofList: list).values.contains { task in
                    task.done && task.tags.contains { world.tags[$0]?.name == owner }
                }
            },
            count("Tag", "ANY tasks.done == false", ["Tag.tasks"]) {
                $0.tasks(ofTag: $1).values.contains { !$0.done }
            },
            RightsRead(
                name: "lists", query: fetch("List", nil, ["owner", "tasks"]),
                names: ["List.tasks"]
            ) { world, _ in
                world.lists.map { key, list in
                    "\(list.owner)|\(members(world.tasks(ofList: key)))"
                }
            },
            RightsRead(
                name: "links", query: fetch("Tag", nil, ["name", "tasks"]), names: ["Tag.tasks"]
            ) { world, _ in
                world.tags.map { key, tag in "\(tag.name)|\(members(world.tasks(ofTag: key)))" }
            },
            RightsRead(
                name: "prefetch",
                query: .fetch(
                    Fetch("List", selection: .objects, prefetch: ["tasks"])),
                names: ["List.tasks"]
            ) { world, rights in
                let lists = world.lists.map { key, list in
                    let size = rights.has(name: "List.size") ? "|\(list.size)" : ""
                    return "List/\(key)|\(list.owner)\(size)|\(members(world.tasks(ofList: key)))"
                }
                let tasks = world.tasks.filter { $0.value.list != nil }
                return lists + tasks.map { object($0.key, $0.value, rights) }
            },
        ]
    }

    private static func members(_ tasks: [Int64: RightsWorld.Task]) -> String {
        tasks.sorted { $0.key < $1.key }.map { "\($1.entityName)/\($0)" }.joined(separator: ",")
    }

    private static func aggregates(_ number: Int64) -> [RightsRead] {
        [
            RightsRead(
                name: "groups",
                query: .aggregate(
                    Aggregate(
                        "Task", groupBy: ["list.owner"],
                        [.count, Aggregate.Column(.sum, "cost")])),
                names: ["Task.list", "List", "Task.cost"]
            ) { world, _ in
                Dictionary(grouping: world.tasks.values) { text(world.owner(of: $0)) }.map {
                    "\($0)|\($1.count)|\($1.reduce(0) { $0 + $1.cost })"
                }
            },
            RightsRead(
                name: "aggregate",
                query: .aggregate(
                    Aggregate(
                        "Task", where: .format("cost >= \(number)"),
                        [.count, Aggregate.Column(.maximum, "title")])),
                names: ["Task.cost"]
            ) { world, _ in
                let tasks = world.tasks.values.filter { $0.cost >= number }
                return ["\(tasks.count)|\(text(tasks.map(\.title).max()))"]
            },
            RightsRead(
                name: "filtered column",
                query: .aggregate(
                    Aggregate(
                        "Task", groupBy: ["done"],
                        [Aggregate.Column(.count, where: "list != nil", name: "n")])),
                names: ["Task.list"]
            ) { world, _ in
                Dictionary(grouping: world.tasks.values, by: \.done).map { done, tasks in
                    "\(done)|\(tasks.count { $0.list != nil })"
                }
            },
            RightsRead(
                name: "groups of lists",
                query: .aggregate(
                    Aggregate("List", groupBy: ["owner", "tasks.@count"], [.count])),
                names: ["List.tasks"]
            ) { world, _ in
                Dictionary(grouping: world.lists) { key, list in
                    "\(list.owner)|\(world.tasks(ofList: key).count)"
                }.map { "\($0)|\($1.count)" }
            },
        ]
    }
}

// MARK: The rows of replies

extension RightsRead {
    /// Whether the query returns objects with all their properties.
    var isWhole: Bool {
        if case .fetch(let fetch) = query, case .objects = fetch.selection { true } else { false }
    }

    /// - Parameter isWhole: Whether a row begins with the object's identifier, and its columns are
    ///   in the order of their names.
    static func rows(of batch: Batch, isWhole: Bool) -> [String] {
        let columns = isWhole ? batch.columns.sorted { $0.name < $1.name } : batch.columns
        return (0..<batch.rowCount).map { row in
            let values = columns.map { text($0.value(at: row, store: anyStore)) }
            let key = batch.identity.map { ["\($0.entityName(at: row))/\($0.keys[row])"] } ?? []
            return ((isWhole ? key : []) + values).joined(separator: "|")
        }
    }

    private static let anyStore = UUID()

    static func text(_ value: Value) -> String {
        switch value {
        case .null: "nil"
        case .bool(let value): "\(value)"
        case .int(let value): "\(value)"
        case .string(let value): value
        case .object(let object): text(object)
        case .objects(let objects):
            objects.sorted { ($0.permanentKey ?? 0) < ($1.permanentKey ?? 0) }.map { text($0) }
                .joined(separator: ",")
        default: "\(value)"
        }
    }

    static func text(_ object: PersistentIdentifier) -> String {
        "\(object.entityName)/\(object.permanentKey ?? 0)"
    }
}
