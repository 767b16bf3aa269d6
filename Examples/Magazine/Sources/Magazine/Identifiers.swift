internal import CoreData
public import Foundation
public import SwiftData
internal import SwiftDataKit

// A URI names an object in other contexts, other programs, and in files. Each way below ends at the
// same object.

extension ModelContext {
    /// The category that a URI names; nil for another URI, and for a category that does not exist.
    public func category(at uri: URL) throws -> Category? {
        guard let identifier = uri.persistentIdentifier else { return nil }
        let named = #Predicate<Category> { $0.persistentModelID == identifier }
        return try fetch(FetchDescriptor(predicate: named)).first
    }

    /// The name of the category that a URI names, read by a context of Core Data alone.
    public func nameInCoreData(ofCategoryAt uri: URL) throws -> String? {
        guard let coordinator,
            let identifier = coordinator.managedObjectID(forURIRepresentation: uri)
        else { return nil }
        let objects = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        objects.persistentStoreCoordinator = coordinator
        return try objects.performAndWait {
            try objects.existingObject(with: identifier).value(forKey: "name") as? String
        }
    }
}

extension Category {
    /// The URI of the category, which is the same for its model, its managed object and its
    /// identifier.
    public var uri: URL? { persistentModelID.uriRepresentation }
}
