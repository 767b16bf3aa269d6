internal import CoreDataPredicates
internal import Foundation
internal import LarderModel
internal import LarderObjects

extension NSManagedObjectContext {
    /// The results of a request, in order. Objects without changes are refreshed.
    ///
    /// - Throws: an `NSError` with the reason: of a predicate, with the column or the name.
    public func fetch<T>(_ request: NSFetchRequest<T>) throws -> [T] {
        defer { objects.announceManyChanges() }
        return try translating { () throws(LarderError) in
            let results = try locating(request) { () throws(LarderError) in
                try self.results(of: request)
            }
            var typed: [T] = []
            typed.reserveCapacity(results.count)
            for result in results {
                guard let result = result as? T else {
                    throw LarderError(
                        .wrongType,
                        "a result is \(type(of: result)), but the request is for \(T.self)",
                        hint: "use NSFetchRequest<NSFetchRequestResult>")
                }
                typed.append(result)
            }
            return typed
        }
    }

    /// The number of objects that match a request.
    ///
    /// - Throws: an `NSError` with the reason.
    public func count<T>(for request: NSFetchRequest<T>) throws -> Int {
        try translating { () throws(LarderError) in
            try locating(request) { () throws(LarderError) in
                try objects.count(try request.objectFetch())
            }
        }
    }

    /// Runs a request whose error gets the column in the format of its predicate.
    private func locating<T, Result>(
        _ request: NSFetchRequest<T>, _ body: () throws(LarderError) -> Result
    ) throws(LarderError) -> Result {
        let location = request.entityName.flatMap(termLocation)
        return try location.locating(request.predicate, body)
    }

    /// Where names and types of queries of an entity are checked; nil if no store has it.
    func termLocation(entityName: String) -> TermLocation? {
        (try? objects.model.store(of: entityName)).map {
            TermLocation($0.schema, entityName: entityName)
        }
    }

    private func results<T>(of request: NSFetchRequest<T>) throws(LarderError) -> [Any] {
        switch request.resultType {
        case .managedObjectResultType:
            return try objects.fetch(try request.objectFetch()).map(managedObject)
        case .managedObjectIDResultType:
            return try objects.identifiers(try request.objectFetch()).map(objectID)
        case .countResultType:
            return [NSNumber(value: try objects.count(try request.objectFetch()))]
        case .dictionaryResultType:
            // A dictionary of Foundation casts to one of Swift, and is a result of a request.
            return try DictionaryFetch(request, in: self).rows().map {
                NSDictionary(dictionary: $0)
            }
        default:
            throw LarderError(.unsupported, "the request has several result types, or none")
        }
    }

    // MARK: - Objects by identifier

    /// The object with an identifier, without reading it. It may turn out not to exist: then its
    /// values are nil, and `isDeleted` is true.
    public func object(with objectID: NSManagedObjectID) -> NSManagedObject {
        let identifier = objectID.identifier
        let isKnown =
            identifier.isTemporary
            || objects.model.allStores.contains { $0.identifier == identifier.store }
        if isKnown, let stored = try? objects.object(for: identifier) {
            return managedObject(stored)
        }
        let gone = StoredObject()
        gone.becomeGone()
        return NSManagedObject(gone, entity: objectID.entity, in: self)
    }

    /// The object with an identifier, read from the store if the context does not have it.
    ///
    /// - Throws: an `NSError` with the code `NSManagedObjectReferentialIntegrityError` if it does
    ///   not exist; errors of the store.
    public func existingObject(with objectID: NSManagedObjectID) throws -> NSManagedObject {
        try translating { () throws(LarderError) in
            guard let stored = try objects.existingObject(for: objectID.identifier) else {
                throw LarderError(
                    .objectNotFound, "\(objectID.entity.name ?? "") \(objectID) does not exist",
                    uri: objectID.identifier.uriRepresentation)
            }
            return managedObject(stored)
        }
    }

    /// Makes sure that objects have permanent identifiers. A store assigns them when it saves.
    ///
    /// - Throws: an `NSError` for an object that is not saved.
    public func obtainPermanentIDs(for objects: [NSManagedObject]) throws {
        for object in objects where object.objectID.isTemporaryID {
            throw NSError.coreData(
                LarderError(
                    .unsupported,
                    "the \(object.entity.name ?? "object") has no permanent identifier yet",
                    hint: "save the context, and the contexts that are its ancestors"))
        }
    }

    /// The object with an identifier if the context has it; it is never read from the store.
    public func registeredObject(for objectID: NSManagedObjectID) -> NSManagedObject? {
        objects.registeredObject(for: objectID.identifier).map(managedObject)
    }

    /// The objects that the context has.
    public var registeredObjects: Set<NSManagedObject> {
        Set((objects.savedObjects + objects.insertedObjects).map(managedObject))
    }

    // MARK: - Requests

    /// Executes a request: a fetch, or a change of all objects that match.
    ///
    /// - Throws: an `NSError` with the reason.
    @discardableResult
    public func execute(_ request: NSPersistentStoreRequest) throws -> NSPersistentStoreResult {
        try translating { () throws(LarderError) in try request.execute(in: self) }
    }
}
