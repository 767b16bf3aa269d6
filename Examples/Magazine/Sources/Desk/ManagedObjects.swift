public import CoreData
public import Foundation

public class ManagedGroup: NSManagedObject {
    @NSManaged public var title: String?
    @NSManaged public var tasks: NSSet?

    @nonobjc public class func fetchRequest() -> NSFetchRequest<ManagedGroup> {
        NSFetchRequest<ManagedGroup>(entityName: "Group")
    }
}

public class ManagedTask: NSManagedObject {
    @NSManaged public var title: String?
    @NSManaged public var priority: Int16
    @NSManaged public var completed: Bool
    @NSManaged public var due: Date?
    @NSManaged public var group: ManagedGroup?

    @nonobjc public class func fetchRequest() -> NSFetchRequest<ManagedTask> {
        NSFetchRequest<ManagedTask>(entityName: "Task")
    }
}

// A conversion runs on the queue of the object's context, whatever thread calls it. It is nil for
// an object without a context, and for one without a value that the view needs.

extension ManagedGroup: ConvertibleValueObservableObject {
    public var wrappedID: WrappedID { .objectID(objectID) }

    public func convertToValueType() -> DeskGroup? {
        guard let context = managedObjectContext else { return nil }
        return context.performAndWait {
            guard !isDeleted, let title else { return nil }
            return DeskGroup(id: wrappedID, title: title, taskCount: tasks?.count ?? 0)
        }
    }
}

extension ManagedTask: ConvertibleValueObservableObject {
    public var wrappedID: WrappedID { .objectID(objectID) }

    public func convertToValueType() -> DeskTask? {
        guard let context = managedObjectContext else { return nil }
        return context.performAndWait {
            guard !isDeleted, let title else { return nil }
            return DeskTask(
                id: wrappedID, title: title,
                priority: DeskTask.Priority(rawValue: Int(priority)) ?? .standard,
                completed: completed, due: due)
        }
    }
}
