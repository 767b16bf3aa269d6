import Foundation
import LarderData
import TodoValues

@Model final class GroupModel {
    var title: String
    @Relationship(deleteRule: .cascade, inverse: \TaskModel.group) var tasks: [TaskModel] = []

    init(title: String) { self.title = title }
}

@Model final class TaskModel {
    var title: String
    var priority = Priority.standard
    var isCompleted = false
    var isInMyDay = false
    var group: GroupModel?

    init(title: String) { self.title = title }
}

// The values of models. Nil says that a model is deleted, also by another process.

extension GroupModel: ConvertibleValueObservableObject {
    func convertToValueType() -> TodoGroup? {
        guard modelContext != nil else { return nil }
        return TodoGroup(id: wrappedID, title: title, taskCount: tasks.count)
    }
}

extension TaskModel: ConvertibleValueObservableObject {
    func convertToValueType() -> TodoTask? {
        guard modelContext != nil else { return nil }
        return TodoTask(
            id: wrappedID, title: title, priority: priority, isCompleted: isCompleted,
            isInMyDay: isInMyDay, group: group?.wrappedID)
    }
}
