internal import CoreDataPredicates
public import Foundation
package import LarderModel
package import LarderObjects
internal import LarderQuery
internal import Synchronization

/// A store that a coordinator has opened.
public final class NSPersistentStore: NSObject, Sendable {
    /// The type of a store, by its newer name.
    public struct StoreType: RawRepresentable, Hashable, Sendable {
        public let rawValue: String

        public init(rawValue: String) { self.rawValue = rawValue }

        public static let sqlite = Self(rawValue: NSSQLiteStoreType)
        public static let inMemory = Self(rawValue: NSInMemoryStoreType)
    }

    public let type: String
    public let url: URL?
    public let configurationName: String
    public let isReadOnly: Bool
    let store: any ObjectStore

    init(
        _ store: any ObjectStore, type: String, url: URL?, configurationName: String
    ) {
        self.store = store
        self.type = type
        self.url = url
        self.configurationName = configurationName
        isReadOnly = store.isReadOnly
    }

    /// The UUID of the store, which is a part of the URI of each of its objects.
    public var identifier: String { store.identifier.uuidString }
}

/// The stores of a model.
///
/// Sendable unchecked: what changes is under a lock.
open class NSPersistentStoreCoordinator: NSObject, @unchecked Sendable {
    private struct Opened: @unchecked Sendable {
        // Sendable unchecked: it is used under the lock.
        var stores: [NSPersistentStore] = []
        var model = ObjectModel.empty
        /// The model of the other module that has opened the stores; it is kept, because the
        /// coordinator is found by it.
        var shown: ObjectModel?
        var parts: [String: any ObjectStore] = [:]
        var observations: [any AnyObject & Sendable] = []
    }

    public let managedObjectModel: NSManagedObjectModel
    private let opened = Mutex(Opened())

    /// Posts the notifications of all coordinators in order.
    private static let queue = DispatchQueue(label: "CoreData.RemoteChange")

    public init(managedObjectModel model: NSManagedObjectModel) {
        managedObjectModel = model
        super.init()
        ModelRegistry.shared.add(model)
    }

    /// The coordinator of stores that another module has opened.
    private convenience init(_ model: ObjectModel) {
        let entities = model.allStores.flatMap(\.schema.entities)
        let schema = try? Schema(entities: entities)
        let managed = schema.map { NSManagedObjectModel($0) } ?? NSManagedObjectModel()
        self.init(managedObjectModel: managed)
        // Contexts that the coordinator has itself make managed objects, not models.
        let own = ((try? managed.compile())?.entities ?? [:]).values.sorted { $0.name < $1.name }
        opened.withLock { opened in
            opened.shown = model
            for entity in own { opened.parts[entity.name] = try? model.store(of: entity.name) }
            opened.model = ObjectModel(entities: own, stores: opened.parts)
            opened.stores = model.allStores.map {
                NSPersistentStore($0, type: "", url: nil, configurationName: "")
            }
        }
    }

    /// The coordinator of stores that another module has opened, the same one while anyone has it.
    package static func coordinator(of model: ObjectModel) -> NSPersistentStoreCoordinator {
        // Made outside of the lock; a coordinator keeps its model, so the model is the same one.
        if let known = shown.withLock({ $0[ObjectIdentifier(model)]?.coordinator }) { return known }
        let new = NSPersistentStoreCoordinator(model)
        return shown.withLock { shown in
            if let known = shown[ObjectIdentifier(model)]?.coordinator { return known }
            shown = shown.filter { $0.value.coordinator != nil }
            shown[ObjectIdentifier(model)] = WeakCoordinator(coordinator: new)
            return new
        }
    }

    private struct WeakCoordinator { weak var coordinator: NSPersistentStoreCoordinator? }

    private static let shown = Mutex<[ObjectIdentifier: WeakCoordinator]>([:])

    var objectModel: ObjectModel { opened.withLock { $0.model } }

    open var persistentStores: [NSPersistentStore] { opened.withLock { $0.stores } }

    /// The store at a URL.
    open func persistentStore(for url: URL) -> NSPersistentStore? {
        persistentStores.first { $0.url == url }
    }

    /// Opens a store. Do that before a context is used.
    ///
    /// - Parameter options: What ``NSPersistentStoreDescription`` has as options.
    /// - Throws: an `NSError` with the reason.
    @discardableResult
    open func addPersistentStore(
        ofType storeType: String, configurationName configuration: String?, at storeURL: URL?,
        options: [AnyHashable: Any]? = nil
    ) throws -> NSPersistentStore {
        let description = NSPersistentStoreDescription()
        description.type = storeType
        description.url = storeURL
        description.configuration = configuration
        for (key, value) in options ?? [:] {
            let number = value as? NSNumber
            description.setOption(number ?? value as? NSObject, forKey: "\(key.base)")
        }
        return try add(description)
    }

    /// Opens a store. Do that before a context is used.
    ///
    /// - Throws: an `NSError` with the reason.
    @discardableResult
    open func addPersistentStore(
        type: NSPersistentStore.StoreType, configuration: String? = nil, at storeURL: URL,
        options: [AnyHashable: Any]? = nil
    ) throws -> NSPersistentStore {
        try addPersistentStore(
            ofType: type.rawValue, configurationName: configuration, at: storeURL, options: options)
    }

    /// Executes a request in a context.
    ///
    /// - Throws: an `NSError` with the reason.
    @discardableResult
    open func execute(
        _ request: NSPersistentStoreRequest, with context: NSManagedObjectContext
    ) throws -> Any {
        try context.execute(request)
    }

    /// Opens the store of a description, and calls the closure with the error if it cannot be
    /// opened.
    open func addPersistentStore(
        with storeDescription: NSPersistentStoreDescription,
        completionHandler block: (NSPersistentStoreDescription, (any Error)?) -> Void
    ) {
        do {
            try add(storeDescription)
            block(storeDescription, nil)
        } catch {
            block(storeDescription, error)
        }
    }

    @discardableResult
    private func add(_ description: NSPersistentStoreDescription) throws -> NSPersistentStore {
        do {
            let compiled = try managedObjectModel.compile()
            let names = try entityNames(of: description.configuration, compiled)
            let store = try description.open(compiled.schema(of: names))
            let added = NSPersistentStore(
                store, type: description.isInMemory ? NSInMemoryStoreType : description.type,
                url: description.url, configurationName: description.configuration ?? "")
            let observation = description.postsRemoteChanges ? observe(store, added.url) : nil
            opened.withLock { opened in
                for name in names { opened.parts[name] = store }
                opened.stores.append(added)
                opened.observations += observation.map { [$0] } ?? []
                opened.model = ObjectModel(
                    entities: compiled.entities.values.sorted { $0.name < $1.name },
                    stores: opened.parts)
            }
            return added
        } catch let error as LarderError {
            throw NSError.coreData(error)
        }
    }

    /// Adds a store that is open, with all entities.
    func add(_ store: any ObjectStore) throws {
        let compiled = try translating { () throws(LarderError) in
            try managedObjectModel.compile()
        }
        opened.withLock { opened in
            for name in compiled.entities.keys { opened.parts[name] = store }
            opened.stores.append(
                NSPersistentStore(
                    store, type: NSSQLiteStoreType, url: nil, configurationName: ""))
            opened.model = ObjectModel(
                entities: compiled.entities.values.sorted { $0.name < $1.name },
                stores: opened.parts)
        }
    }

    private func entityNames(
        of configuration: String?, _ compiled: CompiledModel
    ) throws(LarderError) -> Set<String> {
        guard let configuration else { return Set(compiled.entities.keys) }
        guard let entities = managedObjectModel.entities(forConfigurationName: configuration)
        else {
            throw LarderError(
                .malformedSchema, "the model has no configuration \(configuration)",
                hint: "add it by setEntities(_:forConfigurationName:)")
        }
        return Set(entities.compactMap(\.name))
    }

    private func observe(_ store: any ObjectStore, _ url: URL?) -> any AnyObject & Sendable {
        let identifier = store.identifier.uuidString
        return store.observeCommits { [weak self] _ in
            Self.queue.async { [weak self] in
                guard let self else { return }
                var info: [String: Any] = ["NSStoreUUID": identifier]
                if let url { info["storeURL"] = url }
                NotificationCenter.default.post(
                    name: .NSPersistentStoreRemoteChange, object: self, userInfo: info)
            }
        }
    }

    /// The identifier of an object for its URI; nil for a URI that is none, one of a store that
    /// this coordinator does not have, and one of an unknown entity.
    open func managedObjectID(forURIRepresentation url: URL) -> NSManagedObjectID? {
        guard let identifier = try? PersistentIdentifier(uriRepresentation: url.absoluteString),
            objectModel.entities[identifier.entityName] != nil,
            persistentStores.contains(where: { $0.store.identifier == identifier.store })
        else { return nil }
        return objectID(of: identifier)
    }

    /// The identifier with the description of its entity.
    package func objectID(of identifier: PersistentIdentifier) -> NSManagedObjectID {
        NSManagedObjectID(
            identifier, (try? managedObjectModel.compile())?.descriptions[identifier.entityName])
    }
}
