import Foundation
import LarderData
import Observation
import TodoValues

/// Follows what one window shows, in a context of its own. The observers keep the models whose
/// properties are read.
@ModelActor
actor TodoWatcher {
    private var groupResults: ResultsObserver<GroupModel, Never>?
    private var taskResults: ResultsObserver<TaskModel, Never>?

    func groups() throws -> AsyncStream<[TodoGroup]> {
        groupResults = try observe(sortBy: [SortDescriptor(\.title)])
        return values { $0.groupValues }
    }

    func group(_ id: PersistentIdentifier) throws -> AsyncStream<GroupContents?> {
        guard let _: GroupModel = try modelContext.existingModel(for: id) else { return gone() }
        groupResults = try observe(#Predicate { $0.persistentModelID == id })
        taskResults = try observe(#Predicate { $0.group?.persistentModelID == id })
        return values { watcher in
            watcher.groupValues.first.map {
                GroupContents(group: $0, tasks: watcher.taskValues.ordered())
            }
        }
    }

    func myDay() throws -> AsyncStream<[TodoTask]> {
        taskResults = try observe(#Predicate { $0.isInMyDay })
        return values { $0.taskValues.ordered() }
    }

    func task(_ id: PersistentIdentifier) throws -> AsyncStream<TaskContents?> {
        guard let _: TaskModel = try modelContext.existingModel(for: id) else { return gone() }
        taskResults = try observe(#Predicate { $0.persistentModelID == id })
        groupResults = try observe(sortBy: [SortDescriptor(\.title)])
        return values { watcher in
            watcher.taskValues.first.map { TaskContents(task: $0, groups: watcher.groupValues) }
        }
    }

    /// Identifiers are never used again, so nothing follows.
    private func gone<Value>() -> AsyncStream<Value?> {
        AsyncStream { continuation in
            continuation.yield(nil)
            continuation.finish()
        }
    }

    private var groupValues: [TodoGroup] {
        groupResults?.results.compactMap { $0.convertToValueType() } ?? []
    }

    private var taskValues: [TodoTask] {
        taskResults?.results.compactMap { $0.convertToValueType() } ?? []
    }

    private func observe<Model: PersistentModel>(
        _ predicate: Predicate<Model>? = nil, sortBy: [SortDescriptor<Model>] = []
    ) throws -> ResultsObserver<Model, Never> {
        try ResultsObserver(filterBy: predicate, sortBy: sortBy, modelContext: modelContext)
    }

    /// The result of a function, now and whenever something that it has read changes. A slow reader
    /// receives the newest value only.
    private func values<Value: Equatable & Sendable>(
        of read: @escaping @Sendable (isolated TodoWatcher) -> Value
    ) -> AsyncStream<Value> {
        let (stream, continuation) = AsyncStream<Value>.makeStream(
            bufferingPolicy: .bufferingNewest(1))
        let task = Task {
            var last: Value?
            for await value in Observations({ read(self) }) where value != last {
                continuation.yield(value)
                last = value
            }
            continuation.finish()
        }
        continuation.onTermination = { _ in task.cancel() }
        return stream
    }
}
