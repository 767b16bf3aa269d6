import Foundation
import LarderData
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

    @Test("the conversion of a deleted model is nil, and the model keeps its values")
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
}
