public import CoreData
public import Foundation

/// The operations on groups and tasks. Each takes values, works in the background, and looks for
/// the object of a value first: without one it does nothing.
public final class DeskStore: Sendable {
    public let container: NSPersistentContainer

    /// Opens the store in a file, the one that a `larderd` serves at a socket, or one in memory.
    public init(at url: URL?) throws {
        container = NSPersistentContainer(name: "Desk", managedObjectModel: DeskModel.model)
        let description = NSPersistentStoreDescription(url: url ?? URL(filePath: "/dev/null"))
        description.setOption(
            true as NSNumber, forKey: NSPersistentStoreRemoteChangeNotificationPostOptionKey)
        container.persistentStoreDescriptions = [description]
        var failure: (any Error)?
        container.loadPersistentStores { _, error in failure = error }
        if let failure { throw failure }
        container.viewContext.automaticallyMergesChangesFromParent = true
    }

    @discardableResult
    public func createGroup(_ title: String) async throws -> WrappedID {
        try await container.performBackgroundTask { context in
            let group = ManagedGroup(context: context)
            group.title = title
            try context.save()
            return group.wrappedID
        }
    }

    @discardableResult
    public func createTask(_ title: String, in group: DeskGroup) async throws -> WrappedID? {
        try await container.performBackgroundTask { context in
            guard let group = context.existing(ManagedGroup.self, group.id) else { return nil }
            let task = ManagedTask(context: context)
            task.title = title
            task.group = group
            try context.save()
            return task.wrappedID
        }
    }

    /// - Returns: whether the task exists.
    @discardableResult
    public func updateTask(_ task: DeskTask) async throws -> Bool {
        try await change(task.id) { (object: ManagedTask, _) in
            object.title = task.title
            object.priority = Int16(task.priority.rawValue)
            object.completed = task.completed
            object.due = task.due
        }
    }

    /// - Returns: whether both exist.
    @discardableResult
    public func moveTask(_ task: DeskTask, to group: DeskGroup) async throws -> Bool {
        try await container.performBackgroundTask { context in
            guard let object = context.existing(ManagedTask.self, task.id),
                let group = context.existing(ManagedGroup.self, group.id)
            else { return false }
            object.group = group
            try context.save()
            return true
        }
    }

    /// Deletes a group with its tasks.
    ///
    /// - Returns: whether the group existed.
    @discardableResult
    public func deleteGroup(_ group: DeskGroup) async throws -> Bool {
        try await change(group.id) { (object: ManagedGroup, context) in context.delete(object) }
    }

    /// - Returns: whether the task existed.
    @discardableResult
    public func deleteTask(_ task: DeskTask) async throws -> Bool {
        try await change(task.id) { (object: ManagedTask, context) in context.delete(object) }
    }

    private func change<Object: NSManagedObject>(
        _ identity: WrappedID,
        _ body: @escaping @Sendable (Object, NSManagedObjectContext) -> Void
    ) async throws -> Bool {
        try await container.performBackgroundTask { context in
            guard let object = context.existing(Object.self, identity) else { return false }
            body(object, context)
            try context.save()
            return true
        }
    }
}

extension NSManagedObjectContext {
    /// The object of a value; nil if it was deleted, or the value comes from no store.
    public func existing<Object: NSManagedObject>(
        _ type: Object.Type, _ identity: WrappedID
    ) -> Object? {
        guard case .objectID(let identifier) = identity else { return nil }
        return (try? existingObject(with: identifier)) as? Object
    }
}
