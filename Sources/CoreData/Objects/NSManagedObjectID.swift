internal import CoreDataPredicates
public import Foundation
package import LarderModel

/// The identifier of an object. It is temporary until the object is saved; then the object has
/// another one.
public final class NSManagedObjectID: NSObject, NSFetchRequestResult, ObjectReference, Sendable {
    package let identifier: PersistentIdentifier
    /// The description of the object's entity; one with the name alone if the identifier does not
    /// come from a context.
    public let entity: NSEntityDescription

    package init(_ identifier: PersistentIdentifier, _ entity: NSEntityDescription?) {
        self.identifier = identifier
        self.entity = entity ?? NSEntityDescription(unknown: identifier.entityName)
    }

    public var isTemporaryID: Bool { identifier.isTemporary }

    /// The identifier as a URI, which another process can make an identifier of:
    /// ``NSPersistentStoreCoordinator/managedObjectID(forURIRepresentation:)``.
    public func uriRepresentation() -> URL {
        // Foundation accepts each text of these characters.
        URL(string: identifier.uriRepresentation) ?? URL(filePath: "/")
    }

    package var queriedIdentifier: PersistentIdentifier { identifier }

    public override func isEqual(_ object: Any?) -> Bool {
        (object as? NSManagedObjectID)?.identifier == identifier
    }

    public override var hash: Int { identifier.hashValue }

    public override var description: String { identifier.uriRepresentation }
}
