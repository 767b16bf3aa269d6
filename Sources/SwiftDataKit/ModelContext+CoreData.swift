public import CoreData
internal import LarderObjects
public import SwiftData

// One object has one state: a managed object and a model of the same object read and change the
// same values in the same context, also before a save.

extension ModelContext {
    /// The context in Core Data's words. It has the objects and the changes of this one, and is the
    /// same one while anyone has it.
    public var managedObjectContext: NSManagedObjectContext? {
        if let known = objects.counterpart as? NSManagedObjectContext { return known }
        let new = NSManagedObjectContext(
            self, objects, .coordinator(of: objects.model), isMain: isMain)
        objects.counterpart = new
        return new
    }

    /// The stores in Core Data's words.
    public var coordinator: NSPersistentStoreCoordinator? {
        managedObjectContext?.persistentStoreCoordinator
    }

    /// The schema in Core Data's words.
    public var objectModel: NSManagedObjectModel? { coordinator?.managedObjectModel }
}

extension ModelContext: ManagedContextOwner {
    package func didChange() { modelDidChange() }

    package func schedule(_ body: @escaping @Sendable () -> Void) -> Bool { runAtHome(body) }
}

extension ModelContainer {
    /// The stores in Core Data's words.
    public var coordinator: NSPersistentStoreCoordinator? { .coordinator(of: objectModel) }
}

extension PersistentModel {
    /// The object in Core Data's words; nil for a model without a context.
    public var managedObject: NSManagedObject? {
        guard _$object.isManaged else { return nil }
        return modelContext?.managedObjectContext?.managedObject(_$object)
    }

    /// The identifier in Core Data's words; nil for a model without a context.
    public var objectID: NSManagedObjectID? { managedObject?.objectID }
}
