import Foundation
import Testing
import TodoStore
import TodoValues

/// Where groups and tasks are. Pages that are developed with mocks rely on their equality.
enum Place: CaseIterable {
    case mocks, memory, file

    func todo(in folder: TemporaryFolder) throws -> any Todo {
        switch self {
        case .mocks: MockTodo()
        case .memory: try StoredTodo(at: nil)
        case .file: try StoredTodo(at: folder.file)
        }
    }
}

/// A folder that is deleted with its last reference.
final class TemporaryFolder: Sendable {
    private let url = FileManager.default.temporaryDirectory.appending(path: "todo-\(UUID())")
    var file: URL { url.appending(path: "todo.store") }

    init() throws {
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }
}

extension AsyncStream where Element: Sendable {
    /// The first value that a function accepts.
    func first(where isExpected: (Element) -> Bool) async -> Element? {
        for await value in self where isExpected(value) { return value }
        return nil
    }
}

@Suite("Groups and tasks", .timeLimit(.minutes(1)))
struct TodoTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test(
        "streams of groups and tasks show the changes made after they began",
        arguments: Place.allCases)
    func streams(_ place: Place) async throws {
        let todo = try place.todo(in: folder)
        let groups = try await todo.groups()
        #expect(await groups.first { _ in true } == [])
        let work = try await todo.createGroup(titled: " Work ")
        let home = try await todo.createGroup(titled: "Home")
        #expect(await groups.first { $0.count == 2 }?.map(\.title) == ["Home", "Work"])

        let group = try await todo.group(home)
        let plants = try await todo.createTask(titled: "plants", in: home)
        let tasks = await group.first { $0?.tasks.count == 1 }
        #expect(tasks??.tasks == [TodoTask(id: plants, title: "plants", group: home)])
        #expect(tasks??.group.taskCount == 1)
        #expect(await groups.first { $0[0].taskCount == 1 }?[1].taskCount == 0)

        let today = try await todo.myDay()
        let task = try await todo.task(plants)
        let changed = TodoTask(
            id: plants, title: "Plants", priority: .high, isCompleted: true, isInMyDay: true,
            group: home)
        try await todo.updateTask(changed)
        #expect(await task.first { $0?.task == changed } != nil)
        #expect(await group.first { $0?.tasks == [changed] } != nil)
        #expect(await today.first { !$0.isEmpty } == [changed])

        try await todo.moveTask(plants, to: work)
        #expect(await group.first { $0?.tasks.isEmpty == true } != nil)
        #expect(await groups.first { $0[0].taskCount == 0 }?[1].taskCount == 1)
        #expect(await task.first { $0?.task.group == work } != nil)

        try await todo.renameGroup(work, to: "Office")
        #expect(await groups.first { $0[1].title == "Office" } != nil)
        #expect(await task.first { $0?.groups[1].title == "Office" } != nil)
    }

    @Test(
        "a stream about a deleted group or task reports that it is gone", arguments: Place.allCases)
    func deletion(_ place: Place) async throws {
        let todo = try place.todo(in: folder)
        let home = try await todo.createGroup(titled: "Home")
        let first = try await todo.createTask(titled: "first", in: home)
        let second = try await todo.createTask(titled: "second", in: home)
        let (group, task) = (try await todo.group(home), try await todo.task(second))
        #expect(await task.first { $0?.task.title == "second" } != nil)
        try await todo.deleteTask(first)
        #expect(await group.first { $0?.tasks.count == 1 } != nil)
        try await todo.deleteGroup(home)
        #expect(await group.first { $0 == nil } != nil)
        #expect(await task.first { $0 == nil } != nil)
        #expect(await (try todo.group(home)).first { _ in true } == .some(nil))
    }

    @Test("a change of a group or task that does not exist is an error", arguments: Place.allCases)
    func unknown(_ place: Place) async throws {
        let todo = try place.todo(in: folder)
        let home = try await todo.createGroup(titled: "Home")
        let task = try await todo.createTask(titled: "a", in: home)
        try await todo.deleteTask(task)
        // A group is no task, and a task is no group.
        for id in [task, home, .integer(99), .string("x")] {
            await #expect(throws: TodoError.unknown(.task)) { try await todo.deleteTask(id) }
            await #expect(throws: TodoError.unknown(.task)) {
                try await todo.updateTask(TodoTask(id: id, title: "b"))
            }
            await #expect(throws: TodoError.unknown(.task)) {
                try await todo.moveTask(id, to: home)
            }
        }
        for id in [task, .integer(99), .string("x")] {
            await #expect(throws: TodoError.unknown(.group)) { try await todo.deleteGroup(id) }
            await #expect(throws: TodoError.unknown(.group)) {
                try await todo.createTask(titled: "b", in: id)
            }
        }
        #expect(await (try todo.groups()).first { _ in true }?.map(\.taskCount) == [0])
    }

    @Test("an empty or too long title of a group or task is refused", arguments: Place.allCases)
    func titles(_ place: Place) async throws {
        let todo = try place.todo(in: folder)
        await #expect(throws: TodoError.emptyTitle) { try await todo.createGroup(titled: " ") }
        let home = try await todo.createGroup(titled: "Home")
        let long = String(repeating: "x", count: Title.countMax + 1)
        await #expect(throws: TodoError.longTitle(maximum: Title.countMax)) {
            try await todo.renameGroup(home, to: long)
        }
        await #expect(throws: TodoError.emptyTitle) {
            try await todo.createTask(titled: "", in: home)
        }
    }

    @Test("the identity of a group of another store is unknown")
    func foreign() async throws {
        let other = try await StoredTodo(at: nil).createGroup(titled: "Home")
        let todo = try StoredTodo(at: nil)
        _ = try await todo.createGroup(titled: "Home")
        await #expect(throws: TodoError.unknown(.group)) { try await todo.deleteGroup(other) }
        #expect(await (try todo.group(other)).first { _ in true } == .some(nil))
    }

    @Test("two containers on one file show each other's groups and tasks")
    func twoContainers() async throws {
        let (one, two) = (try StoredTodo(at: folder.file), try StoredTodo(at: folder.file))
        let groups = try await two.groups()
        let home = try await one.createGroup(titled: "Home")
        let group = try await two.group(home)
        let task = try await one.createTask(titled: "a", in: home)
        #expect(await group.first { $0?.tasks.map(\.id) == [task] } != nil)
        #expect(await groups.first { $0.first?.taskCount == 1 } != nil)
        try await two.deleteGroup(home)
        #expect(await group.first { $0 == nil } != nil)
        #expect(await (try one.groups()).first { _ in true } == [])
        await #expect(throws: TodoError.unknown(.task)) { try await one.deleteTask(task) }
    }

    @Test("a stream of groups that ends leaves nothing behind")
    func ending() async throws {
        let todo = try StoredTodo(at: nil)
        var groups: AsyncStream<[TodoGroup]>? = try await todo.groups()
        _ = await groups?.first { _ in true }
        groups = nil
        _ = try await todo.createGroup(titled: "Home")
        #expect(await (try todo.groups()).first { _ in true }?.count == 1)
    }
}
