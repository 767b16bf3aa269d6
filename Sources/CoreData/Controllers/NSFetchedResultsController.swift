internal import CoreDataPredicates
public import Foundation
internal import LarderModel

/// The objects of a request in sections, which it fetches again after each change of its context
/// that may concern them. It tells its delegate what has changed.
///
/// It sees the changes of its context when they are processed, before they are saved, and those of
/// other contexts and processes as the context merges them. Without a delegate, and for other
/// results than objects, the result stays as it was fetched.
open class NSFetchedResultsController<ResultType>: NSObject, FetchedResultsController {
    /// The request. The next fetch uses its changes.
    public let fetchRequest: NSFetchRequest<ResultType>
    /// A name for a cache. It is accepted, and there is none: sections are computed.
    public let cacheName: String?
    let results: FetchedResults

    /// - Parameters:
    ///   - fetchRequest: A request for objects with an order, by which the objects of a section are
    ///     one after the other.
    ///   - sectionNameKeyPath: The attribute with the names of sections, also one of an object of
    ///     relationships to one object, or a name for which the class of the objects overrides
    ///     ``NSManagedObject/value(forUndefinedKey:)``; nil for one section.
    public init(
        fetchRequest: NSFetchRequest<ResultType>,
        managedObjectContext context: NSManagedObjectContext,
        sectionNameKeyPath: String?, cacheName name: String?
    ) {
        self.fetchRequest = fetchRequest
        cacheName = name
        results = FetchedResults(fetchRequest, context, sectionNameKeyPath: sectionNameKeyPath)
        super.init()
        results.controller = self
    }

    /// A controller of the state of another one.
    init(_ results: FetchedResults, _ fetchRequest: NSFetchRequest<ResultType>) {
        self.results = results
        self.fetchRequest = fetchRequest
        cacheName = nil
        super.init()
    }

    public var managedObjectContext: NSManagedObjectContext { results.context }

    public var sectionNameKeyPath: String? { results.sectionNameKeyPath }

    open var delegate: (any NSFetchedResultsControllerDelegate)? {
        get { results.delegate }
        set { results.delegate = newValue }
    }

    /// Accepted, and without effect: there are no caches.
    open class func deleteCache(withName name: String?) {}

    /// Fetches the objects.
    ///
    /// - Throws: an `NSError`: that of the fetch, or for a request without an order, or a key path
    ///   of sections that its entity does not have.
    open func performFetch() throws { try results.performFetch() }

    // MARK: - Objects

    /// The objects; nil before the first fetch.
    open var fetchedObjects: [ResultType]? {
        guard let result = results.result else { return nil }
        return result.objects.compactMap { $0 as? ResultType }
    }

    /// The object at a position. For a position that does not exist it is an object in no context,
    /// and a message says so on standard error.
    open func object(at indexPath: IndexPath) -> ResultType {
        if let found = results.result?.object(at: indexPath) as? ResultType { return found }
        Log.write(
            "a fetched results controller has no object at \(Array(indexPath)); it has "
                + "\(results.result?.objects.count ?? 0) objects")
        return absent
    }

    /// The position of an object; nil if it is not in the result.
    open func indexPath(forObject object: ResultType) -> IndexPath? {
        results.result?.path(of: object)
    }

    private var absent: ResultType {
        let entity = (try? fetchRequest.requiredEntityName()).flatMap {
            managedObjectContext.compiledModel?.descriptions[$0]
        }
        let named = entity ?? NSEntityDescription(unknown: "")
        let type = ResultType.self as? NSManagedObject.Type ?? named.managedObjectClass
        let values: [Any] = [
            type.init(entity: named, insertInto: nil), NSDictionary(), NSNumber(value: 0),
            NSManagedObjectID(PersistentIdentifier(temporary: "", entityName: ""), named),
        ]
        guard let value = values.lazy.compactMap({ $0 as? ResultType }).first else {
            preconditionFailure("\(ResultType.self) is no type of results of requests")
        }
        return value
    }

    // MARK: - Sections

    /// The sections in the order of their first objects; nil before the first fetch.
    open var sections: [any NSFetchedResultsSectionInfo]? {
        results.result?.sections.map { results.section($0) }
    }

    /// The titles of the sections in their order, each once.
    open var sectionIndexTitles: [String] { results.titles.map(\.title) }

    /// The title of a section: that of the delegate, or the first letter of its name.
    open func sectionIndexTitle(forSectionName sectionName: String) -> String? {
        results.defaultTitle(sectionName)
    }

    /// The index of the first section with a title.
    ///
    /// - Parameter sectionIndex: The index of the title among ``sectionIndexTitles``.
    /// - Returns: `NSNotFound` if there is no such title.
    open func section(forSectionIndexTitle title: String, at sectionIndex: Int) -> Int {
        let titles = results.titles
        if titles.indices.contains(sectionIndex), titles[sectionIndex].title == title {
            return titles[sectionIndex].section
        }
        return titles.first { $0.title == title }?.section ?? NSNotFound
    }

    func title(_ sectionName: String) -> String? { sectionIndexTitle(forSectionName: sectionName) }

    // MARK: - NSObject

    /// Whether both are the same controller: a delegate may get another instance of it.
    open override func isEqual(_ object: Any?) -> Bool {
        (object as? any FetchedResultsController)?.results === results
    }

    open override var hash: Int { ObjectIdentifier(results).hashValue }
}

/// A section of a fetched results controller.
public protocol NSFetchedResultsSectionInfo {
    var name: String { get }
    var indexTitle: String? { get }
    var numberOfObjects: Int { get }
    var objects: [Any]? { get }
}

/// The kind of a change in a result.
public enum NSFetchedResultsChangeType: UInt, Sendable {
    case insert = 1
    case delete = 2
    /// The object has another position. It may have other values too.
    case move = 3
    /// The object has other values.
    case update = 4
}

/// A receiver of the changes of a fetched results controller's result. Each method has a default
/// that does nothing.
public protocol NSFetchedResultsControllerDelegate: AnyObject {
    /// Called before the other methods. The controller has the new result already.
    func controllerWillChangeContent(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>)

    /// - Parameters:
    ///   - indexPath: The position before all changes; nil for an insertion.
    ///   - newIndexPath: The position after all changes; nil for a deletion.
    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChange anObject: Any, at indexPath: IndexPath?, for type: NSFetchedResultsChangeType,
        newIndexPath: IndexPath?)

    /// - Parameter sectionIndex: The index before all changes for a deletion, that after them for
    ///   an insertion.
    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChange sectionInfo: any NSFetchedResultsSectionInfo, atSectionIndex sectionIndex: Int,
        for type: NSFetchedResultsChangeType)

    /// Called for a controller without sections, with what was deleted, inserted and moved.
    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChangeContentWith diff: CollectionDifference<NSManagedObjectID>)

    /// Called after the other methods.
    func controllerDidChangeContent(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>)

    /// The title of a section in an index; nil for the first letter of its name.
    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        sectionIndexTitleForSectionName sectionName: String
    ) -> String?
}

extension NSFetchedResultsControllerDelegate {
    public func controllerWillChangeContent(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>
    ) {}

    public func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChange anObject: Any, at indexPath: IndexPath?, for type: NSFetchedResultsChangeType,
        newIndexPath: IndexPath?
    ) {}

    public func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChange sectionInfo: any NSFetchedResultsSectionInfo, atSectionIndex sectionIndex: Int,
        for type: NSFetchedResultsChangeType
    ) {}

    public func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChangeContentWith diff: CollectionDifference<NSManagedObjectID>
    ) {}

    public func controllerDidChangeContent(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>
    ) {}

    public func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        sectionIndexTitleForSectionName sectionName: String
    ) -> String? { nil }
}
