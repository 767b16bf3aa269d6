public import Foundation
public import LarderData
public import TodoValues

/// Groups and tasks in a store, which several processes may use at the same time.
public struct StoredTodo: Todo {
    private let container: ModelContainer

    /// Opens the store in a file, or one in memory that nobody else has.
    public init(at url: URL?) throws {
        let schema = Schema([GroupModel.self, TaskModel.self])
        let configuration =
            url.map { ModelConfiguration(schema: schema, url: $0) }
            ?? ModelConfiguration(schema: schema, isStoredInMemoryOnly: true)
        container = try ModelContainer(for: schema, configurations: [configuration])
    }

    // Each stream has a context of its own, and so has each change.

    private var watcher: TodoWatcher { TodoWatcher(modelContainer: container) }
    private var editor: TodoEditor { TodoEditor(modelContainer: container) }

    public func groups() async throws -> AsyncStream<[TodoGroup]> { try await watcher.groups() }

    public func group(_ id: WrappedID) async throws -> AsyncStream<GroupContents?> {
        try await watcher.group(id.objectID(or: .group))
    }

    public func myDay() async throws -> AsyncStream<[TodoTask]> { try await watcher.myDay() }

    public func task(_ id: WrappedID) async throws -> AsyncStream<TaskContents?> {
        try await watcher.task(id.objectID(or: .task))
    }

    public func createGroup(titled title: String) async throws -> WrappedID {
        try await editor.createGroup(titled: title)
    }

    public func renameGroup(_ id: WrappedID, to title: String) async throws {
        try await editor.renameGroup(id.objectID(or: .group), to: title)
    }

    public func deleteGroup(_ id: WrappedID) async throws {
        try await editor.deleteGroup(id.objectID(or: .group))
    }

    public func createTask(titled title: String, in group: WrappedID) async throws -> WrappedID {
        try await editor.createTask(titled: title, in: group.objectID(or: .group))
    }

    public func updateTask(_ task: TodoTask) async throws {
        try await editor.updateTask(task.id.objectID(or: .task), to: task)
    }

    public func moveTask(_ id: WrappedID, to group: WrappedID) async throws {
        try await editor.moveTask(id.objectID(or: .task), to: group.objectID(or: .group))
    }

    public func deleteTask(_ id: WrappedID) async throws {
        try await editor.deleteTask(id.objectID(or: .task))
    }
}

extension WrappedID {
    /// The identifier of an object of a store; other identities are those of no object there.
    fileprivate func objectID(or kind: TodoError.Kind) throws(TodoError) -> PersistentIdentifier {
        guard case .objectID(let identifier) = self else { throw .unknown(kind) }
        return identifier
    }
}
