/// Lists, tasks and tags in memory: what a store has, or what a user may see of it.
///
/// With ``UserRights`` it is a model of policies that shares nothing with the store: rules are
/// functions of these dictionaries.
struct RightsWorld: Equatable {
    struct List: Hashable {
        var owner: String
        var size: Int64
    }

    struct Task: Hashable {
        /// Whether it is of the subentity `Memo`.
        var isMemo: Bool
        var title: String
        var done: Bool
        var cost: Int64
        var note: String?
        var list: Int64?
        var tags: Set<Int64>

        var entityName: String { isMemo ? "Memo" : "Task" }
    }

    struct Tag: Hashable {
        var name: String
    }

    var lists: [Int64: List] = [:]
    /// The tasks and the memos, which share their keys.
    var tasks: [Int64: Task] = [:]
    var tags: [Int64: Tag] = [:]

    func tasks(ofList key: Int64) -> [Int64: Task] { tasks.filter { $0.value.list == key } }
    func tasks(ofTag key: Int64) -> [Int64: Task] { tasks.filter { $0.value.tags.contains(key) } }

    func owner(of task: Task) -> String? { task.list.flatMap { lists[$0]?.owner } }

    /// How the texts of objects begin that are not known to users who do not see the objects.
    static let marker = "zq"

    /// Texts that only these objects have. No two objects have one in common.
    var secrets: Set<String> {
        Set(tasks.values.flatMap { [$0.title, $0.note].compactMap(\.self) })
    }

    static let schema = """
        { "version": "1.0.0", "entities": [
          { "name": "List", "history": "values",
            "attributes": [ { "name": "owner", "type": "string" },
                            { "name": "size", "type": "int64", "default": 0 } ],
            "relationships": [ { "name": "tasks", "destination": "Task", "toMany": true,
                                 "inverse": "list", "deleteRule": "cascade" } ] },
          { "name": "Task", "history": "values",
            "attributes": [ { "name": "title", "type": "string", "unique": true },
                            { "name": "done", "type": "bool", "default": false },
                            { "name": "cost", "type": "int64", "default": 0, "indexed": true },
                            { "name": "note", "type": "string", "optional": true,
                              "search": { "tokens": "words" } } ],
            "relationships": [
              { "name": "list", "destination": "List", "inverse": "tasks" },
              { "name": "tags", "destination": "Tag", "toMany": true, "inverse": "tasks" } ] },
          { "name": "Memo", "parent": "Task" },
          { "name": "Tag",
            "attributes": [ { "name": "name", "type": "string" } ],
            "relationships": [ { "name": "tasks", "destination": "Task", "toMany": true,
                                 "inverse": "tags" } ] },
          { "name": "Mark", "attributes": [ { "name": "number", "type": "int64" } ] } ] }
        """
}
