import Foundation
import LarderData
import Observation
import Testing

struct TaskValue: BaseValueProtocol {
    var id: WrappedID
    var title: String
    var isCompleted = false
}

@Model final class TaskModel {
    var title: String
    var isCompleted: Bool = false

    init(title: String) { self.title = title }
}

extension TaskModel: ConvertibleValueObservableObject {
    func convertToValueType() -> TaskValue? {
        guard modelContext != nil else { return nil }
        return TaskValue(id: wrappedID, title: title, isCompleted: isCompleted)
    }
}

final class MockTask: TestableConvertibleValueObservableObject {
    typealias WrappedValue = TaskValue
    var _wrappedValue: TaskValue
    init(_ wrappedValue: TaskValue) { _wrappedValue = wrappedValue }
}

/// A mock whose changes observers see.
@Observable final class LiveMockTask: TestableConvertibleValueObservableObject {
    typealias WrappedValue = TaskValue
    var _wrappedValue: TaskValue
    init(_ wrappedValue: TaskValue) { _wrappedValue = wrappedValue }
}

@Suite("Values of models, and mocks in their place")
struct ValueTests {
    @Test("a list shows mocks and models alike")
    func sources() throws {
        let mock = MockTask(TaskValue(id: .integer(1), title: "mock"))
        mock.title = "changed"
        #expect(
            try MockableFetch(mocks: [mock.eraseToAny()]).values().map(\.title) == ["changed"])
        let container = try ModelContainer(
            for: TaskModel.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
        let context = ModelContext(container)
        context.insert(TaskModel(title: "real"))
        try context.save()
        let fetch = MockableFetch(FetchDescriptor<TaskModel>(), in: context)
        #expect(try fetch.values().map(\.title) == ["real"])
    }

    @Test("the value of a deleted model is nil, and the model keeps its properties")
    func deletion() throws {
        let container = try ModelContainer(
            for: TaskModel.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
        let context = ModelContext(container)
        let task = TaskModel(title: "real")
        context.insert(task)
        try context.save()
        let erased = task.eraseToAny()
        #expect(erased.wrappedValue?.title == "real")
        context.delete(task)
        try context.save()
        #expect(erased.wrappedValue == nil)
        #expect(task.title == "real")
    }

    @Test("a mock is made from a value, has its members, and is updated by another value")
    func mocks() {
        let mock = MockTask(TaskValue(id: .uuid(UUID()), title: "A"))
        mock.isCompleted = true
        #expect(mock.title == "A" && mock.isCompleted)
        #expect(mock == MockTask(mock._wrappedValue))
        let erased = mock.eraseToAny()
        #expect(erased.id == mock.wrappedID && erased.wrappedValue == mock._wrappedValue)
        mock.update(TaskValue(id: mock.wrappedID, title: "B"))
        #expect(erased.wrappedValue?.title == "B")
        #expect(erased == MockTask(mock._wrappedValue).eraseToAny())
        #expect(erased != MockTask(TaskValue(id: .integer(1), title: "B")).eraseToAny())
    }

    /// A view, as far as it concerns the source of its values: what it shows, and its next change.
    @MainActor private func titles(
        of fetch: MockableFetch<TaskValue>, after change: () throws -> Void
    ) async throws -> [[String]] {
        let (changes, continuation) = AsyncStream<Void>.makeStream()
        func show() -> [String] {
            withObservationTracking {
                (try? fetch.values().map(\.title)) ?? ["error"]
            } onChange: {
                continuation.yield()
            }
        }
        let before = show()
        try change()
        for await _ in changes { break }
        // The change is announced before it is made.
        await Task.yield()
        return [before, show()]
    }

    @MainActor @Test("a view over mock models follows their changes")
    func observedMocks() async throws {
        let mock = LiveMockTask(TaskValue(id: .integer(1), title: "A"))
        let shown = try await titles(
            of: MockableFetch(mocks: [mock.eraseToAny()]), after: { mock.title = "B" })
        #expect(shown == [["A"], ["B"]])
    }

    @MainActor
    @Test(
        "a view that can show mocks also follows the models of a store",
        arguments: StoreKind.allCases)
    func observedModels(_ kind: StoreKind) async throws {
        let (own, other, folder) = try kind.containers(for: TaskModel.self)
        defer { withExtendedLifetime(folder) {} }
        let observer = try ResultsObserver<TaskModel, Never>(
            sortBy: [SortDescriptor(\.title)], modelContext: ModelContext(own))
        let shown = try await titles(
            of: MockableFetch(observer),
            after: {
                let context = ModelContext(other)
                context.insert(TaskModel(title: "A"))
                try context.save()
            })
        #expect(shown == [[], ["A"]])
    }
}

@Suite("Identities")
struct IdentityTests {
    @Test("a wrapped identity becomes text and is read back from it")
    func text() throws {
        let stored = try PersistentIdentifier(
            uriRepresentation: "x-coredata://8D1B1E90-9D4C-4C3C-8E0B-0A1E0C7B2A11/Book/p7")
        let identities: [WrappedID] = [
            .integer(-3), .integer(.max), .string(""), .string("a:b <>&/?#"), .string("ü"),
            .string("x-coredata://"), .uuid(UUID()), .objectID(stored),
            .objectID(TaskModel(title: "A").persistentModelID),
        ]
        for identity in identities {
            #expect(WrappedID("\(identity)") == identity)
            let encoded = try JSONEncoder().encode([identity])
            #expect(try JSONDecoder().decode([WrappedID].self, from: encoded) == [identity])
            var link = URLComponents()
            link.queryItems = [URLQueryItem(name: "id", value: "\(identity)")]
            let url = try #require(link.url)
            let read = URLComponents(url: url, resolvingAgainstBaseURL: false)?.queryItems?.first
            #expect(read?.value.flatMap(WrappedID.init) == identity)
        }
        #expect("\(WrappedID.objectID(stored))" == stored.uriRepresentation)
        #expect(
            String(decoding: try JSONEncoder().encode([WrappedID.integer(3)]), as: UTF8.self)
                == #"["integer:3"]"#)
    }

    @Test("a wrapped identity cannot be read from malformed text")
    func malformed() {
        for text in ["", "x", ":", "integer:", "integer:x", "uuid:1", "x-coredata:", "number:1"] {
            #expect(WrappedID(text) == nil)
            #expect(throws: DecodingError.self) {
                try JSONDecoder().decode([WrappedID].self, from: JSONEncoder().encode([text]))
            }
        }
    }

    @Test(
        "the URI of a model leads to the same model in another container",
        arguments: StoreKind.allCases)
    func uri(_ kind: StoreKind) throws {
        let (own, other, folder) = try kind.containers(for: TaskModel.self)
        defer { withExtendedLifetime(folder) {} }
        let context = ModelContext(own)
        let task = TaskModel(title: "A")
        context.insert(task)
        let temporary = task.persistentModelID
        #expect(
            try PersistentIdentifier(uriRepresentation: temporary.uriRepresentation) == temporary)
        #expect((context.model(for: temporary) as? TaskModel) === task)
        try context.save()
        let uri = task.persistentModelID.uriRepresentation
        let identifier = try PersistentIdentifier(uriRepresentation: uri)
        #expect(identifier == task.persistentModelID)
        #expect((context.model(for: identifier) as? TaskModel) === task)
        let there = ModelContext(other)
        let found: TaskModel? = try there.existingModel(for: identifier)
        #expect(found?.title == "A")
        #expect(
            try there.fetch(
                FetchDescriptor<TaskModel>(
                    predicate: #Predicate { $0.persistentModelID == identifier })
            ).map(\.title) == ["A"])
        let foreign = try PersistentIdentifier(
            uriRepresentation: uri.replacing(
                task.persistentModelID.storeIdentifier ?? "", with: UUID().uuidString))
        let none: TaskModel? = try there.existingModel(for: foreign)
        #expect(none == nil)
    }
}
