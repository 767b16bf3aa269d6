import Foundation
import LarderData
import TodoValues

/// Makes one change. It confirms that the object exists, and saves.
@ModelActor
actor TodoEditor {
    func createGroup(titled title: String) throws -> WrappedID {
        let group = GroupModel(title: try Title.checked(title))
        modelContext.insert(group)
        try modelContext.save()
        return group.wrappedID
    }

    func renameGroup(_ id: PersistentIdentifier, to title: String) throws {
        try group(id).title = try Title.checked(title)
        try modelContext.save()
    }

    func deleteGroup(_ id: PersistentIdentifier) throws {
        modelContext.delete(try group(id))
        try modelContext.save()
    }

    func createTask(titled title: String, in id: PersistentIdentifier) throws -> WrappedID {
        let group = try group(id)
        let task = TaskModel(title: try Title.checked(title))
        modelContext.insert(task)
        task.group = group
        try modelContext.save()
        return task.wrappedID
    }

    func updateTask(_ id: PersistentIdentifier, to value: TodoTask) throws {
        let task = try task(id)
        task.title = try Title.checked(value.title)
        task.priority = value.priority
        task.isCompleted = value.isCompleted
        task.isInMyDay = value.isInMyDay
        try modelContext.save()
    }

    func moveTask(_ id: PersistentIdentifier, to groupID: PersistentIdentifier) throws {
        try task(id).group = try group(groupID)
        try modelContext.save()
    }

    func deleteTask(_ id: PersistentIdentifier) throws {
        modelContext.delete(try task(id))
        try modelContext.save()
    }

    private func group(_ id: PersistentIdentifier) throws -> GroupModel {
        guard let group: GroupModel = try modelContext.existingModel(for: id) else {
            throw TodoError.unknown(.group)
        }
        return group
    }

    private func task(_ id: PersistentIdentifier) throws -> TaskModel {
        guard let task: TaskModel = try modelContext.existingModel(for: id) else {
            throw TodoError.unknown(.task)
        }
        return task
    }
}
