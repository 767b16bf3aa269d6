public import LarderData

/// The identity of a value. Views import this module alone, and so no store.
public typealias WrappedID = LarderData.WrappedID

/// A list of tasks.
public struct TodoGroup: BaseValueProtocol {
    public var id: WrappedID
    public var title: String
    public var taskCount: Int

    public init(id: WrappedID, title: String, taskCount: Int = 0) {
        self.id = id
        self.title = title
        self.taskCount = taskCount
    }
}

public struct TodoTask: BaseValueProtocol {
    public var id: WrappedID
    public var title: String
    public var priority: Priority
    public var isCompleted: Bool
    /// Whether the task is planned for today.
    public var isInMyDay: Bool
    /// The group of the task; nil if it has none.
    public var group: WrappedID?

    public init(
        id: WrappedID, title: String, priority: Priority = .standard, isCompleted: Bool = false,
        isInMyDay: Bool = false, group: WrappedID? = nil
    ) {
        self.id = id
        self.title = title
        self.priority = priority
        self.isCompleted = isCompleted
        self.isInMyDay = isInMyDay
        self.group = group
    }
}

public enum Priority: Int, Codable, CaseIterable, Sendable {
    case low, standard, high
}

/// A group with its tasks.
public struct GroupContents: Equatable, Sendable {
    public var group: TodoGroup
    public var tasks: [TodoTask]

    public init(group: TodoGroup, tasks: [TodoTask]) {
        self.group = group
        self.tasks = tasks
    }
}

/// A task, with the groups that it could be moved to.
public struct TaskContents: Equatable, Sendable {
    public var task: TodoTask
    public var groups: [TodoGroup]

    public init(task: TodoTask, groups: [TodoGroup]) {
        self.task = task
        self.groups = groups
    }
}

extension [TodoTask] {
    /// The order of a list: open tasks first, then those of a higher priority, then by title.
    public func ordered() -> [TodoTask] {
        func key(_ task: TodoTask) -> (Int, Int, String) {
            (task.isCompleted ? 1 : 0, -task.priority.rawValue, task.title)
        }
        return sorted { key($0) < key($1) }
    }
}
