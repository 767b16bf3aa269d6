import CoreData
import Desk
import Foundation
import Testing

/// A task without a store.
final class MockTask: TestableConvertibleValueObservableObject {
    typealias WrappedValue = DeskTask
    var _wrappedValue: DeskTask
    init(_ wrappedValue: DeskTask) { _wrappedValue = wrappedValue }
}

/// A store in memory or in a file, with one group and one task.
final class TestDesk {
    let store: DeskStore
    let url: URL?
    let group: DeskGroup
    let task: DeskTask

    init(isInFile: Bool = false) async throws {
        url =
            isInFile
            ? FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).store")
            : nil
        store = try DeskStore(at: url)
        group = DeskGroup(id: try await store.createGroup("news"), title: "news", taskCount: 1)
        let identity = try #require(try await store.createTask("call", in: group))
        task = DeskTask(id: identity, title: "call")
    }

    deinit {
        guard let url else { return }
        for suffix in ["", "-wal", "-shm"] {
            try? FileManager.default.removeItem(atPath: url.path + suffix)
        }
    }
}

@Suite("Values of managed objects")
struct ValueTests {
    @Test("a list shows the objects of a request and mocks alike")
    @MainActor func sources() async throws {
        let desk = try await TestDesk()
        let stored = MockableFetchRequest(
            ManagedTask.fetchRequest(), in: desk.store.container.viewContext)
        #expect(try stored.values() == [desk.task])
        #expect(try stored.objects().map(\.id) == [desk.task.id])
        let mock = MockTask(DeskTask(id: .integer(1), title: "mock"))
        mock.completed = true
        let mocks = MockableFetchRequest(mocks: [mock.eraseToAny()])
        #expect(try mocks.values() == [DeskTask(id: .integer(1), title: "mock", completed: true)])
        mock.update(DeskTask(id: .integer(1), title: "other"))
        #expect(try mocks.values().map(\.title) == ["other"])
        #expect(mock != MockTask(DeskTask(id: .string("1"), title: "other")))
    }

    @Test("operations take values, and change the objects of these")
    @MainActor func operations() async throws {
        let desk = try await TestDesk(isInFile: true)
        var task = desk.task
        task.title = "write"
        task.priority = .high
        task.due = Date(timeIntervalSinceReferenceDate: 60)
        #expect(try await desk.store.updateTask(task))
        let other = DeskGroup(id: try await desk.store.createGroup("art"), title: "art")
        #expect(try await desk.store.moveTask(task, to: other))
        let context = desk.store.container.viewContext
        let object = try #require(context.existing(ManagedTask.self, task.id))
        #expect(object.convertToValueType() == task)
        #expect(object.group?.convertToValueType()?.taskCount == 1)
        #expect(context.existing(ManagedGroup.self, desk.group.id)?.tasks?.count == 0)
        // An identity of another kind, and of another entity, is that of no task.
        #expect(context.existing(ManagedTask.self, .uuid(UUID())) == nil)
        #expect(context.existing(ManagedTask.self, other.id) == nil)
        // A second container of the file finds the object by its URI.
        let identifier = object.objectID.uriRepresentation()
        let second = try DeskStore(at: desk.url).container
        let same = try #require(
            second.persistentStoreCoordinator.managedObjectID(forURIRepresentation: identifier))
        #expect(second.viewContext.existing(ManagedTask.self, .objectID(same))?.title == "write")
    }

    @Test("a value is read on the queue of its context from any thread")
    func threads() async throws {
        let desk = try await TestDesk()
        let context = desk.store.container.newBackgroundContext()
        let object = try #require(
            context.performAndWait { context.existing(ManagedTask.self, desk.task.id) })
        let values = await withTaskGroup(of: DeskTask?.self) { tasks in
            nonisolated(unsafe) let object = object
            for _ in 0..<8 { tasks.addTask { object.convertToValueType() } }
            return await tasks.reduce(into: []) { $0.append($1) }
        }
        #expect(values == Array(repeating: desk.task, count: 8))
    }
}

@Suite("Objects that are deleted while they are used")
struct DeletionTests {
    @Test("an operation on a deleted object does nothing, and says so")
    func operations() async throws {
        let desk = try await TestDesk()
        let store = desk.store
        #expect(try await store.deleteGroup(desk.group))
        // Its tasks were deleted with it.
        #expect(try await !store.updateTask(desk.task))
        #expect(try await !store.deleteTask(desk.task))
        #expect(try await !store.deleteGroup(desk.group))
        #expect(try await store.createTask("late", in: desk.group) == nil)
        #expect(try await !store.moveTask(desk.task, to: desk.group))
        let context = store.container.newBackgroundContext()
        #expect(try context.count(for: ManagedTask.fetchRequest()) == 0)
    }

    @Test("a view shows the last value of an object that another context has deleted")
    @MainActor func lastValue() async throws {
        let desk = try await TestDesk()
        let context = desk.store.container.viewContext
        let object = try #require(context.existing(ManagedTask.self, desk.task.id))
        let view = DetailView(object)
        #expect(view.shown == desk.task && !view.isDeleted)
        try await desk.store.deleteTask(desk.task)
        context.processPendingChanges()
        #expect(view.shown == desk.task && view.isDeleted)
        #expect(object.convertToValueType() == nil)
        #expect(object.title == "call" && object.priority == 1 && !object.completed)
        #expect(object.isDeleted)
    }

    @Test("the values of an object follow its changes, and end with its deletion")
    @MainActor func changes() async throws {
        for isInFile in [false, true] {
            let desk = try await TestDesk(isInFile: isInFile)
            let context = desk.store.container.viewContext
            let object = try #require(context.existing(ManagedTask.self, desk.task.id))
            var values = desk.store.values(of: object).makeAsyncIterator()
            #expect(await values.next() == desk.task)
            var task = desk.task
            task.completed = true
            try await desk.store.updateTask(task)
            #expect(await values.next() == task)
            try await desk.store.deleteTask(task)
            #expect(await values.next() == nil)
            #expect(DetailView(object).shown == nil)
            withExtendedLifetime(desk) {}
        }
    }

    @Test("each use of a deleted object returns a documented value, and a save is possible")
    @MainActor func uses() async throws {
        let desk = try await TestDesk()
        let context = desk.store.container.viewContext
        let object = try #require(context.existing(ManagedTask.self, desk.task.id))
        let group = try #require(object.group)
        try await desk.store.deleteGroup(desk.group)
        context.processPendingChanges()
        object.title = "late"
        object.group = nil
        context.delete(object)
        context.refresh(object, mergeChanges: true)
        #expect(object.managedObjectContext == nil && group.convertToValueType() == nil)
        #expect(!NSPredicate(format: "title == 'late'").evaluate(with: object))
        let other = ManagedTask(context: context)
        other.title = "next"
        other.group = group
        #expect(throws: Never.self) { try context.save() }
        #expect(try context.fetch(ManagedTask.fetchRequest()).map(\.title) == ["next"])
        #expect(other.group == nil)
    }
}
