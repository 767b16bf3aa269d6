import CoreData
import LarderModel
import QueryFuzzing
import TestSupport

/// The objects of a random store in a context of Core Data.
struct FuzzedContext {
    let context: NSManagedObjectContext
    /// In the order of the store's drafts.
    let objects: [NSManagedObject]
    private let indexes: [NSManagedObjectID: Int]
    private let identifiers: [PersistentIdentifier: Int]
    private let folder: ContainerTests.Folder?

    init(_ store: FuzzedStore, isInFile: Bool, _ random: inout SeededGenerator) throws {
        folder = isInFile ? try ContainerTests.Folder() : nil
        let model = NSManagedObjectModel(store.schema)
        let container = NSPersistentContainer(name: "Random", managedObjectModel: model)
        let description = container.persistentStoreDescriptions[0]
        if let folder {
            description.url = folder.url.appending(path: "random.store")
        } else {
            description.type = NSInMemoryStoreType
        }
        var failure: (any Error)?
        container.loadPersistentStores { _, error in failure = error }
        if let failure { throw failure }
        let context = container.newBackgroundContext()
        let objects = store.drafts.map { draft in
            NSEntityDescription.insertNewObject(forEntityName: draft.entityName, into: context)
        }
        for (object, draft) in zip(objects, store.drafts) {
            for (name, value) in draft.values {
                object.setValue(value.form(&random), forKey: name)
            }
        }
        for (object, draft) in zip(objects, store.drafts) {
            for (name, links) in draft.links where !links.isEmpty {
                let targets = links.map { objects[$0] }
                guard let relationship = object.entity.relationshipsByName[name] else { continue }
                if !relationship.isToMany {
                    object.setValue(targets.first, forKey: name)
                } else if relationship.isOrdered {
                    // The other side may have appended some.
                    let known = (object.value(forKey: name) as? NSOrderedSet)?.array ?? []
                    let rest = known.filter { old in !targets.contains { $0 === old as AnyObject } }
                    object.setValue(NSOrderedSet(array: rest + targets), forKey: name)
                } else {
                    let known = object.value(forKey: name) as? Set<NSManagedObject> ?? []
                    object.setValue(known.union(targets), forKey: name)
                }
            }
        }
        try context.save()
        self.context = context
        self.objects = objects
        indexes = Dictionary(
            uniqueKeysWithValues: objects.enumerated().map { ($0.element.objectID, $0.offset) })
        identifiers = Dictionary(
            uniqueKeysWithValues: store.identifiers.enumerated().map { ($0.element, $0.offset) })
        try check(store, container.newBackgroundContext())
    }

    /// Reads the objects again: a difference between the contents would look like one of a query.
    ///
    /// - Throws: the first property that is not that of the draft.
    private func check(_ store: FuzzedStore, _ fresh: NSManagedObjectContext) throws {
        for (index, draft) in store.drafts.enumerated() {
            let object = try fresh.existingObject(with: objects[index].objectID)
            for (name, value) in draft.values {
                let slot = object._$object.entity?.slot(named: name)
                let read = slot.flatMap { object._$object.value(at: $0) } ?? .null
                guard read.isSame(as: value) else {
                    throw Difference(property: "\(draft.entityName).\(name)", read: "\(read)")
                }
            }
            for (name, relationship) in object.entity.relationshipsByName {
                let links = object.objectIDs(forRelationshipNamed: name).compactMap { indexes[$0] }
                let expected = store.links(of: index, name)
                guard relationship.isOrdered ? links == expected : Set(links) == Set(expected)
                else {
                    throw Difference(
                        property: "\(draft.entityName).\(name)", read: "\(links) not \(expected)")
                }
            }
        }
    }

    /// A property of an object that has another value than its draft.
    private struct Difference: Error {
        let property: String
        let read: String
    }

    /// The index of a draft.
    func index(of object: NSManagedObject) -> Int? { indexes[object.objectID] }

    /// The object, or the identifier, that takes the place of one of the random store.
    func object(_ identifier: PersistentIdentifier, _ random: inout SeededGenerator) -> Any {
        guard let index = identifiers[identifier] else {
            // One that does not exist, or is of another entity than its identifier says.
            let coordinator = context.persistentStoreCoordinator
            guard let store = coordinator?.persistentStores.first?.identifier,
                let url = URL(
                    string: "x-coredata://\(store)/\(identifier.entityName)/"
                        + "p\(identifier.permanentKey ?? 0)")
            else { return NSNull() }
            return coordinator?.managedObjectID(forURIRepresentation: url) ?? NSNull()
        }
        return Bool.random(using: &random) ? objects[index] : objects[index].objectID
    }

    /// The value as a program passes it.
    func any(_ value: Value, _ random: inout SeededGenerator) -> Any {
        switch value {
        case .object(let identifier): return object(identifier, &random)
        case .objects(let list): return list.map { object($0, &random) }
        default: return value.form(&random) ?? NSNull()
        }
    }

    func any(_ argument: QueryArgument, _ random: inout SeededGenerator) -> Any {
        switch argument {
        case .value(let value): any(value, &random)
        case .list(let values): values.map { any($0, &random) }
        }
    }
}

extension Value {
    fileprivate func isSame(as other: Value) -> Bool {
        if case (.json(let own), .json(let text)) = (self, other) {
            return JSONKey(text: own) == JSONKey(text: text)
        }
        return self == other
    }

    /// The value in one of the forms that a program has: a type of Swift, or one of Foundation.
    func form(_ random: inout SeededGenerator) -> Any? {
        let isObject = Bool.random(using: &random)
        return switch self {
        case .null: nil
        case .bool(let bool): isObject ? NSNumber(value: bool) : bool
        case .int(let int): integer(int, &random)
        case .float(let float): isObject ? NSNumber(value: float) : float
        case .double(let double): isObject ? NSNumber(value: double) : double
        case .decimal(let decimal): isObject ? NSDecimalNumber(decimal: decimal) : decimal
        case .string(let string): isObject ? NSString(string: string) : string
        case .date(let date): isObject ? date as NSDate : date
        case .uuid(let uuid): uuid
        case .url(let url): isObject ? url as NSURL : url
        case .data(let data): isObject ? data as NSData : data
        case .json(let text):
            try? JSONSerialization.jsonObject(with: Data(text.utf8), options: .fragmentsAllowed)
        case .object, .objects: nil
        }
    }

    private func integer(_ int: Int64, _ random: inout SeededGenerator) -> Any {
        switch Int.random(in: 0..<4, using: &random) {
        case 0: NSNumber(value: int)
        case 1: Int16(exactly: int) ?? int
        case 2: UInt8(exactly: int) ?? int
        default: Int(int)
        }
    }
}
