internal import CoreDataPredicates
public import Foundation
internal import LarderModel
internal import LarderObjects

/// A request that a context executes.
open class NSPersistentStoreRequest: NSObject {
    override init() {}

    func execute(
        in context: NSManagedObjectContext
    ) throws(LarderError) -> NSPersistentStoreResult {
        throw LarderError(.unsupported, "\(type(of: self)) has no result by execute(_:)")
    }
}

/// The result of a request.
open class NSPersistentStoreResult: NSObject {
    override init() {}
}

/// The kind of results of a request.
public struct NSFetchRequestResultType: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }
    public static var managedObjectResultType: Self { Self(rawValue: 0) }
    public static let managedObjectIDResultType = Self(rawValue: 1)
    /// A dictionary for each row, of which the stores alone are read: pending changes do not count.
    public static let dictionaryResultType = Self(rawValue: 2)
    public static let countResultType = Self(rawValue: 4)
}

/// A request for objects of an entity, or for values of them.
open class NSFetchRequest<ResultType>: NSPersistentStoreRequest {
    open var entityName: String? { name ?? entity?.name ?? className }
    open var entity: NSEntityDescription?
    open var predicate: NSPredicate?
    open var sortDescriptors: [NSSortDescriptor]?
    /// The largest number of results; 0 is without a limit.
    open var fetchLimit = 0
    open var fetchOffset = 0
    open var resultType = NSFetchRequestResultType.managedObjectResultType
    /// Whether objects of subentities are found.
    open var includesSubentities = true
    /// Whether the result is that of a store in which the changes of the context are saved.
    open var includesPendingChanges = true
    /// Relationships whose objects are read at once.
    open var relationshipKeyPathsForPrefetching: [String]?
    /// Names or descriptions of properties. With objects as results, they are what is read at once;
    /// in dictionaries, they and descriptions of expressions are the values.
    open var propertiesToFetch: [Any]?
    /// Names or descriptions of the properties by which dictionaries are grouped.
    open var propertiesToGroupBy: [Any]?
    /// A condition for groups. A variable is a value of the result by its name, and an expression
    /// is one of those that are fetched.
    open var havingPredicate: NSPredicate?
    /// Whether equal dictionaries are left out.
    open var returnsDistinctResults = false
    /// Accepted, and without effect: values are read when they are used, many at once.
    open var fetchBatchSize = 0
    /// Accepted, and without effect: values are read with the objects.
    open var returnsObjectsAsFaults = true
    /// Accepted, and without effect: values are read with the objects.
    open var includesPropertyValues = true
    /// Accepted, and without effect: objects without changes are always refreshed.
    open var shouldRefreshRefetchedObjects = false

    private let name: String?

    public override init() {
        name = nil
        super.init()
    }

    public init(entityName: String) {
        name = entityName
        super.init()
    }

    /// The request with another type of results.
    func copy<Other>(as type: Other.Type) -> NSFetchRequest<Other> {
        let copy =
            (try? requiredEntityName()).map { NSFetchRequest<Other>(entityName: $0) }
            ?? NSFetchRequest<Other>()
        copy.entity = entity
        copy.predicate = predicate
        copy.sortDescriptors = sortDescriptors
        copy.fetchLimit = fetchLimit
        copy.fetchOffset = fetchOffset
        copy.resultType = resultType
        copy.includesSubentities = includesSubentities
        copy.includesPendingChanges = includesPendingChanges
        copy.relationshipKeyPathsForPrefetching = relationshipKeyPathsForPrefetching
        copy.propertiesToFetch = propertiesToFetch
        copy.propertiesToGroupBy = propertiesToGroupBy
        copy.havingPredicate = havingPredicate
        copy.returnsDistinctResults = returnsDistinctResults
        copy.shouldRefreshRefetchedObjects = shouldRefreshRefetchedObjects
        copy.fetchBatchSize = fetchBatchSize
        copy.returnsObjectsAsFaults = returnsObjectsAsFaults
        copy.includesPropertyValues = includesPropertyValues
        return copy
    }

    /// The entity of the class of the results.
    private var className: String? {
        (ResultType.self as? NSManagedObject.Type).flatMap { $0.entity().name }
    }

    /// - Throws: `unknownEntity` if the request has no entity.
    func requiredEntityName() throws(LarderError) -> String {
        guard let entityName else {
            throw LarderError(
                .unknownEntity, "the request has no entity",
                hint: "make it by NSFetchRequest(entityName:), or set its entity")
        }
        return entityName
    }

    /// The query of a context.
    ///
    /// - Throws: errors of the predicate and of the order.
    func objectFetch() throws(LarderError) -> ObjectFetch {
        var fetch = ObjectFetch(try requiredEntityName())
        if let predicate {
            let term = try BoundTerm(predicate)
            fetch.predicate = term.expression
            fetch.arguments = term.arguments
        }
        for descriptor in sortDescriptors ?? [] { fetch.sort.append(try descriptor.sortKey) }
        fetch.limit = fetchLimit > 0 ? fetchLimit : nil
        fetch.offset = fetchOffset > 0 ? fetchOffset : nil
        fetch.includesSubentities = includesSubentities
        fetch.includesPendingChanges = includesPendingChanges
        fetch.prefetch = relationshipKeyPathsForPrefetching ?? []
        if let propertiesToFetch, resultType == .managedObjectResultType {
            var names: [String] = []
            for property in propertiesToFetch {
                guard let name = (property as? NSPropertyDescription)?.name ?? property as? String,
                    !(property is NSExpressionDescription)
                else {
                    throw LarderError(
                        .unsupported, "propertiesToFetch of objects has what is no property",
                        hint: "set the resultType to dictionaryResultType")
                }
                names.append(name)
            }
            fetch.properties = names
        }
        return fetch
    }
}

extension NSFetchRequest: NSCopying {
    public func copy(with zone: NSZone? = nil) -> Any { copy(as: ResultType.self) }
}
