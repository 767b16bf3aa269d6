internal import CoreDataPredicates
public import Foundation
internal import LarderModel
internal import LarderObjects

/// A change of all objects that match, in the store and in one transaction. The rules of the model
/// apply. Contexts learn of it as of a change by others.
open class NSBatchUpdateRequest: NSPersistentStoreRequest {
    public let entityName: String
    open var predicate: NSPredicate?
    open var includesSubentities = true
    /// New values by the names, or the descriptions, of properties: values, or expressions of the
    /// object as it was.
    open var propertiesToUpdate: [AnyHashable: Any]?
    open var resultType = NSBatchUpdateRequestResultType.statusOnlyResultType

    public init(entityName: String) { self.entityName = entityName }

    public init(entity: NSEntityDescription) { entityName = entity.name ?? "" }

    override func execute(
        in context: NSManagedObjectContext
    ) throws(LarderError) -> NSPersistentStoreResult {
        var builder = TermBuilder()
        var selection = ObjectSelection(
            entityName, wantsIdentifiers: resultType == .updatedObjectIDsResultType,
            includesSubentities: includesSubentities)
        if let predicate { selection.predicate = .tree(try builder.tree(of: predicate)) }
        let description = context.compiledModel?.descriptions[entityName]
        var assignments: [PropertyAssignment] = []
        for (key, value) in propertiesToUpdate ?? [:] {
            let name = (key.base as? NSPropertyDescription)?.name ?? "\(key.base)"
            if let expression = value as? NSExpression {
                assignments.append(
                    PropertyAssignment(name, .tree(try builder.tree(of: expression))))
            } else if let attribute = description?.attributesByName[name] {
                assignments.append(
                    PropertyAssignment(name, to: try attribute.storeValue(of: value)))
            } else {
                assignments.append(PropertyAssignment(name, to: try Value(of: value)))
            }
        }
        if case .tree(let tree)? = selection.predicate {
            let store = try context.objects.model.store(of: entityName)
            selection.arguments = store.arguments(
                builder.arguments, of: tree, entityName: entityName)
        } else {
            selection.arguments = builder.arguments
        }
        assignments.sort { $0.name < $1.name }
        let location = context.termLocation(entityName: entityName)
        let affected = try location.locating(predicate) { () throws(LarderError) in
            try context.change(.updateAll(selection, set: assignments), entityName)
        }
        let result = NSBatchUpdateResult(resultType)
        result.result =
            switch resultType {
            case .statusOnlyResultType: NSNumber(value: true)
            case .updatedObjectsCountResultType: NSNumber(value: affected.count)
            case .updatedObjectIDsResultType: affected.identifiers.map(context.objectID)
            }
        return result
    }
}

public enum NSBatchUpdateRequestResultType: UInt, Sendable {
    case statusOnlyResultType = 0
    case updatedObjectIDsResultType = 1
    case updatedObjectsCountResultType = 2
}

open class NSBatchUpdateResult: NSPersistentStoreResult {
    public let resultType: NSBatchUpdateRequestResultType
    /// True, a number, or identifiers, as the request wants it.
    open internal(set) var result: Any?

    init(_ resultType: NSBatchUpdateRequestResultType) { self.resultType = resultType }
}

/// A deletion of all objects that match, in the store and in one transaction. The delete rules of
/// the model apply. Contexts learn of it as of a deletion by others.
open class NSBatchDeleteRequest: NSPersistentStoreRequest {
    public let fetchRequest: NSFetchRequest<NSFetchRequestResult>
    open var resultType = NSBatchDeleteRequestResultType.resultTypeStatusOnly
    private let identifiers: [NSManagedObjectID]?

    public init(fetchRequest fetch: NSFetchRequest<NSFetchRequestResult>) {
        fetchRequest = fetch
        identifiers = nil
    }

    /// - Parameter objects: Objects of one entity.
    public init(objectIDs objects: [NSManagedObjectID]) {
        fetchRequest = NSFetchRequest(entityName: objects.first?.entity.name ?? "")
        fetchRequest.predicate = NSPredicate(format: "SELF IN %@", objects)
        identifiers = objects
    }

    override func execute(
        in context: NSManagedObjectContext
    ) throws(LarderError) -> NSPersistentStoreResult {
        let result = NSBatchDeleteResult(resultType)
        var affected = AffectedObjects(count: 0)
        if identifiers?.isEmpty != true {
            let fetch = try fetchRequest.objectFetch()
            guard fetch.offset == nil else {
                throw LarderError(
                    .unsupported, "a batch deletion has no offset", hint: "set a predicate")
            }
            let store = try context.objects.model.store(of: fetch.entityName)
            var selection = ObjectSelection(
                fetch.entityName, where: fetch.predicate.map { .tree($0) },
                sort: fetch.limit == nil ? [] : fetch.sort, limit: fetch.limit.map(Int64.init),
                wantsIdentifiers: resultType == .resultTypeObjectIDs,
                includesSubentities: fetch.includesSubentities)
            selection.arguments = fetch.arguments(in: store) { $0.store == store.identifier }
            let location = context.termLocation(entityName: fetch.entityName)
            affected = try location.locating(fetchRequest.predicate) { () throws(LarderError) in
                try context.change(.deleteAll(selection), fetch.entityName)
            }
        }
        result.result =
            switch resultType {
            case .resultTypeStatusOnly: NSNumber(value: true)
            case .resultTypeCount: NSNumber(value: affected.count)
            case .resultTypeObjectIDs: affected.identifiers.map(context.objectID)
            }
        return result
    }
}

public enum NSBatchDeleteRequestResultType: UInt, Sendable {
    case resultTypeStatusOnly = 0
    case resultTypeObjectIDs = 1
    case resultTypeCount = 2
}

open class NSBatchDeleteResult: NSPersistentStoreResult {
    public let resultType: NSBatchDeleteRequestResultType
    /// True, a number, or identifiers, as the request wants it.
    open internal(set) var result: Any?

    init(_ resultType: NSBatchDeleteRequestResultType) { self.resultType = resultType }
}

/// An insertion of many objects, in the store and in one transaction. An object with the unique
/// values of another one updates that.
open class NSBatchInsertRequest: NSPersistentStoreRequest {
    public let entityName: String
    /// The values of each object by the names of attributes.
    open var objectsToInsert: [[String: Any]]?
    /// Called with a dictionary for each object, until it returns true.
    open var dictionaryHandler: ((NSMutableDictionary) -> Bool)?
    /// Called with an object in no context for each object, until it returns true. Its attributes
    /// are inserted.
    open var managedObjectHandler: ((NSManagedObject) -> Bool)?
    open var resultType = NSBatchInsertRequestResultType.statusOnly

    public init(entityName: String, objects dictionaries: [[String: Any]]) {
        self.entityName = entityName
        objectsToInsert = dictionaries
    }

    public convenience init(entity: NSEntityDescription, objects dictionaries: [[String: Any]]) {
        self.init(entityName: entity.name ?? "", objects: dictionaries)
    }

    public init(
        entityName: String, dictionaryHandler handler: @escaping (NSMutableDictionary) -> Bool
    ) {
        self.entityName = entityName
        dictionaryHandler = handler
    }

    public convenience init(
        entity: NSEntityDescription,
        dictionaryHandler handler: @escaping (NSMutableDictionary) -> Bool
    ) {
        self.init(entityName: entity.name ?? "", dictionaryHandler: handler)
    }

    public init(
        entityName: String, managedObjectHandler handler: @escaping (NSManagedObject) -> Bool
    ) {
        self.entityName = entityName
        managedObjectHandler = handler
    }

    public convenience init(
        entity: NSEntityDescription,
        managedObjectHandler handler: @escaping (NSManagedObject) -> Bool
    ) {
        self.init(entityName: entity.name ?? "", managedObjectHandler: handler)
    }

    override func execute(
        in context: NSManagedObjectContext
    ) throws(LarderError) -> NSPersistentStoreResult {
        let store = try context.objects.model.store(of: entityName)
        let description = context.compiledModel?.descriptions[entityName]
        var changes: [Change] = []
        func add(_ dictionary: [String: Any]) throws(LarderError) {
            var values: [String: Value] = [:]
            for (name, value) in dictionary {
                if let attribute = description?.attributesByName[name] {
                    values[name] = try attribute.storeValue(of: value)
                } else {
                    values[name] = try Value(of: value)
                }
            }
            let name = PersistentIdentifier(temporary: "\(changes.count)", entityName: entityName)
            changes.append(.insert(name, values: values))
        }
        for dictionary in objectsToInsert ?? [] { try add(dictionary) }
        if let dictionaryHandler {
            while true {
                let dictionary = NSMutableDictionary()
                if dictionaryHandler(dictionary) { break }
                try add((dictionary as? [String: Any]) ?? [:])
            }
        }
        if let managedObjectHandler, let description {
            while true {
                let object = description.managedObjectClass.init(
                    entity: description, insertInto: nil)
                if managedObjectHandler(object) { break }
                try add(
                    object.knownValues.filter { description.attributesByName[$0.key] != nil })
            }
        }
        let result = NSBatchInsertResult(resultType)
        var inserted: [PersistentIdentifier] = []
        if !changes.isEmpty {
            inserted = try store.save(
                ChangeSet(
                    changes, onUniqueConflict: .upsert, author: context.transactionAuthor ?? "")
            ).inserted
        }
        result.result =
            switch resultType {
            case .statusOnly: NSNumber(value: true)
            case .count: NSNumber(value: inserted.count)
            case .objectIDs: inserted.map(context.objectID)
            }
        return result
    }
}

public enum NSBatchInsertRequestResultType: UInt, Sendable {
    case statusOnly = 0
    case objectIDs = 1
    case count = 2
}

open class NSBatchInsertResult: NSPersistentStoreResult {
    public let resultType: NSBatchInsertRequestResultType
    /// True, a number, or identifiers, as the request wants it.
    open internal(set) var result: Any?

    init(_ resultType: NSBatchInsertRequestResultType) { self.resultType = resultType }
}

extension NSManagedObjectContext {
    /// Applies a change of many objects.
    fileprivate func change(
        _ change: Change, _ entityName: String
    ) throws(LarderError) -> AffectedObjects {
        let store = try objects.model.store(of: entityName)
        return try store.save(ChangeSet([change], author: transactionAuthor ?? "")).affected.first
            ?? AffectedObjects(count: 0)
    }
}
