public import CoreData
public import LarderModel

extension PersistentIdentifier {
    /// The identifier in Core Data's words. The description of its entity has the name alone;
    /// ``CoreData/NSPersistentStoreCoordinator/managedObjectID(forURIRepresentation:)`` makes one
    /// with all.
    public var objectID: NSManagedObjectID? { NSManagedObjectID(self, nil) }

    /// The identifier as a URI, which another process can make an identifier of.
    public var uriRepresentation: URL? { URL(string: description) }
}

extension NSManagedObjectID {
    /// The identifier as models have it.
    public var persistentIdentifier: PersistentIdentifier? { identifier }
}

extension URL {
    /// The identifier of a URI; nil for a URL that is none.
    public var persistentIdentifier: PersistentIdentifier? {
        try? PersistentIdentifier(uriRepresentation: absoluteString)
    }
}
