public import Foundation
internal import LarderObjects

/// The stores of a model, with a context for the main queue.
///
/// Sendable unchecked: a program changes the descriptions before it loads the stores.
open class NSPersistentContainer: NSObject, @unchecked Sendable {
    public let name: String
    public let viewContext: NSManagedObjectContext
    public let persistentStoreCoordinator: NSPersistentStoreCoordinator
    /// The stores that ``loadPersistentStores(completionHandler:)`` opens.
    open var persistentStoreDescriptions: [NSPersistentStoreDescription]

    public var managedObjectModel: NSManagedObjectModel {
        persistentStoreCoordinator.managedObjectModel
    }

    /// - Parameter name: The name of the store's file, without its extension.
    public init(name: String, managedObjectModel model: NSManagedObjectModel) {
        self.name = name
        persistentStoreCoordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        viewContext = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        viewContext.persistentStoreCoordinator = persistentStoreCoordinator
        let url = Self.defaultDirectoryURL().appending(path: "\(name).sqlite")
        persistentStoreDescriptions = [NSPersistentStoreDescription(url: url)]
    }

    /// The folder of stores without a URL: `$XDG_DATA_HOME/PROGRAM`.
    open class func defaultDirectoryURL() -> URL {
        URL(filePath: StorePath.defaultStore()).deletingLastPathComponent()
    }

    /// Opens the stores, and calls the closure for each with its error, if any.
    open func loadPersistentStores(
        completionHandler block: (NSPersistentStoreDescription, (any Error)?) -> Void
    ) {
        for description in persistentStoreDescriptions {
            persistentStoreCoordinator.addPersistentStore(
                with: description, completionHandler: block)
        }
    }

    /// A new context with a queue of its own.
    open func newBackgroundContext() -> NSManagedObjectContext {
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = persistentStoreCoordinator
        return context
    }

    /// Runs a closure with a new context, on its queue.
    open func performBackgroundTask(
        _ block: @escaping @Sendable (NSManagedObjectContext) -> Void
    ) {
        let context = newBackgroundContext()
        context.perform { block(context) }
    }

    /// Runs a closure with a new context, on its queue, without blocking a thread of the caller.
    open func performBackgroundTask<T: Sendable>(
        _ block: @escaping @Sendable (NSManagedObjectContext) throws -> T
    ) async throws -> T {
        let context = newBackgroundContext()
        return try await context.perform { try block(context) }
    }
}
