public import CoreData

// The values that views show. A view and its tests know these alone, and no store.

/// The identity of a value, whether it comes from a store or from code without one.
public enum WrappedID: Equatable, Identifiable, Sendable, Hashable {
    case string(String)
    case integer(Int)
    case uuid(UUID)
    case objectID(NSManagedObjectID)

    public var id: WrappedID { self }
}

public protocol BaseValueProtocol: Equatable, Identifiable, Sendable {
    var id: WrappedID { get }
}

/// A list of tasks.
public struct DeskGroup: BaseValueProtocol {
    public var id: WrappedID
    public var title: String
    public var taskCount: Int

    public init(id: WrappedID, title: String, taskCount: Int = 0) {
        self.id = id
        self.title = title
        self.taskCount = taskCount
    }
}

public struct DeskTask: BaseValueProtocol {
    public enum Priority: Int, Sendable { case low, standard, high }

    public var id: WrappedID
    public var title: String
    public var priority: Priority
    public var completed: Bool
    public var due: Date?

    public init(
        id: WrappedID, title: String, priority: Priority = .standard, completed: Bool = false,
        due: Date? = nil
    ) {
        self.id = id
        self.title = title
        self.priority = priority
        self.completed = completed
        self.due = due
    }
}
