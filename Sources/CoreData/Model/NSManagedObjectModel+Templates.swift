internal import CoreDataPredicates
internal import Foundation

extension NSManagedObjectModel {
    /// The stored request with a name, as a copy; nil if there is none.
    public func fetchRequestTemplate(
        forName name: String
    ) -> NSFetchRequest<any NSFetchRequestResult>? {
        fetchRequestTemplatesByName[name]?.untyped()
    }

    /// Stores a request under a name; nil removes it.
    public func setFetchRequestTemplate(
        _ fetchRequestTemplate: NSFetchRequest<any NSFetchRequestResult>?, forName name: String
    ) {
        fetchRequestTemplatesByName[name] = fetchRequestTemplate?.untyped()
    }

    /// The stored request with a name, with values in place of the variables of its predicate; nil
    /// if there is none. A variable without a value is an error of the fetch.
    public func fetchRequestFromTemplate(
        withName name: String, substitutionVariables variables: [String: Any]
    ) -> NSFetchRequest<any NSFetchRequestResult>? {
        let request = fetchRequestTemplate(forName: name)
        request?.predicate = request?.predicate?.withSubstitutionVariables(variables)
        return request
    }
}

/// A property whose values are the objects that a request finds, each time it is read.
///
/// The predicate of the request may use `$FETCH_SOURCE`, the object with the property, and key
/// paths of it, and `$FETCHED_PROPERTY`, the name of the property.
open class NSFetchedPropertyDescription: NSPropertyDescription, @unchecked Sendable {
    // Sendable unchecked: as its superclass.

    open var fetchRequest: NSFetchRequest<any NSFetchRequestResult>?

    public override init() {}

    /// The objects for an object; none without a context, and for a request with a mistake, which
    /// makes the next save an error.
    func objects(for source: NSManagedObject) -> [Any] {
        guard let context = source.managedObjectContext, let request = fetchRequest?.untyped()
        else { return [] }
        request.predicate = request.predicate?.withSubstitutionVariables([
            "FETCH_SOURCE": source, "FETCHED_PROPERTY": name,
        ])
        do {
            return try context.fetch(request)
        } catch {
            let entityName = source.entity.name ?? ""
            context.objects.refuse("\(entityName).\(name): \(error.localizedDescription)")
            return []
        }
    }
}
