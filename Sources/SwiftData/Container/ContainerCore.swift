import Foundation
internal import LarderModel
internal import LarderObjects
internal import Synchronization

/// The state that a container and its contexts share. Contexts keep it, so that a container may end
/// before them; it keeps neither.
final class ContainerCore: Sendable {
    let schema: Schema
    let model: ObjectModel
    let configurations: Set<ModelConfiguration>
    private let migrationPlanType: MigrationPlanType?
    private let types: [String: any PersistentModel.Type]
    private let holders = Mutex(Holders())
    let history: StoreHistory
    private let commits = StoreCommits()

    /// Sendable unchecked: a metatype is immutable.
    private struct MigrationPlanType: @unchecked Sendable {
        let type: any SchemaMigrationPlan.Type
    }

    /// Sendable unchecked: the main context is used on the main actor only.
    private struct Holders: @unchecked Sendable {
        weak var container: ModelContainer?
        weak var mainContext: ModelContext?
    }

    var migrationPlan: (any SchemaMigrationPlan.Type)? { migrationPlanType?.type }

    /// Opens the stores.
    init(
        _ schema: Schema, _ migrationPlan: (any SchemaMigrationPlan.Type)?,
        _ configurations: [any DataStoreConfiguration]
    ) throws {
        self.schema = schema
        migrationPlanType = migrationPlan.map { MigrationPlanType(type: $0) }
        let own = configurations.compactMap { $0 as? ModelConfiguration }
        let places = own.filter { !$0.isStoredInMemoryOnly }.map(\.url)
        guard Set(places).count == places.count else {
            throw SwiftDataError.duplicateConfiguration
        }
        self.configurations = Set(own)
        var parts: [(Schema, any ObjectStore)] = []
        var opened: [(store: any ObjectStore, url: URL?)] = []
        for configuration in configurations {
            try configuration.validate()
            let part = configuration.schema ?? schema
            guard part.entities.allSatisfy({ schema.entitiesByName[$0.name] != nil }) else {
                throw SwiftDataError.configurationSchemaNotFoundInContainerSchema
            }
            // A store has entities.
            if part.entities.isEmpty { continue }
            if let configuration = configuration as? ModelConfiguration {
                let store = try StoreOpening.open(configuration, part, migrationPlan)
                parts.append((part, store))
                opened.append((store, configuration.url))
            } else {
                let store = try StoreOpening.openCustom(configuration, part)
                parts.append((part, store))
                opened.append((store, nil))
            }
        }
        (types, model) = try Self.model(of: parts)
        for assumption in schema.assumptions { Log.write(assumption) }
        history = StoreHistory(model.allStores.filter { !($0 is any OtherStore) }, types)
        commits.post(of: self, opened)
    }

    /// A container on a store that is open, for a stage of a migration.
    init(_ schema: Schema, _ store: any ObjectStore) throws {
        self.schema = schema
        migrationPlanType = nil
        configurations = []
        (types, model) = try Self.model(of: [(schema, store)])
        history = StoreHistory(model.allStores, types)
    }

    private static func model(
        of parts: [(Schema, any ObjectStore)]
    ) throws -> ([String: any PersistentModel.Type], ObjectModel) {
        var entities: [ObjectEntity] = []
        var stores: [String: any ObjectStore] = [:]
        var types: [String: any PersistentModel.Type] = [:]
        for (part, store) in parts {
            for description in part.descriptions {
                let name = description.type.entityName
                guard stores[name] == nil else { continue }
                guard let entity = store.schema.entity(named: name) else {
                    throw SwiftDataError.loadIssueModelContainer.explained(
                        "the store has no entity \(name)")
                }
                entities.append(ObjectEntity(description, entity))
                stores[name] = store
                types[name] = description.type
            }
        }
        return (types, ObjectModel(entities: entities, stores: stores))
    }

    /// The model of a context, by which a store that others write knows who calls it.
    func model(for state: EditingState) -> ObjectModel {
        guard model.allStores.contains(where: { $0 is any OtherStore }) else { return model }
        return model.replacingStores(
            with: model.allStores.map { ($0 as? any OtherStore)?.forContext(state) ?? $0 })
    }

    // MARK: - The container and its main context

    func setContainer(_ container: ModelContainer) {
        holders.withLock { $0.container = container }
    }

    var existingContainer: ModelContainer? { holders.withLock { $0.container } }

    /// The container, or another one of the same stores if that has ended.
    var container: ModelContainer {
        holders.withLock { $0.container } ?? ModelContainer(self)
    }

    @MainActor var mainContext: ModelContext {
        if let context = holders.withLock({ $0.mainContext }) { return context }
        let context = ModelContext(self)
        context.autosaver = Autosaver()
        context.home.moveToMainActor()
        context.autosaveEnabled = true
        holders.withLock { $0.mainContext = context }
        return context
    }

    // MARK: -

    /// - Throws: ``SwiftDataError/unknownSchema`` for a class of another version that has the
    ///   name of one of the container's entities.
    func check<T: PersistentModel>(_ type: T.Type) throws {
        guard let known = types[T.entityName],
            ObjectIdentifier(known) != ObjectIdentifier(type)
        else { return }
        throw SwiftDataError.unknownSchema.explained(
            "the container has the class \(String(reflecting: known)) for \(T.entityName), not "
                + "\(String(reflecting: type)); use that class, or a container of the other version"
        )
    }

    func erase() throws {
        for store in model.allStores {
            try SwiftDataError.translating { () throws(LarderError) in try store.erase() }
        }
    }

    /// The position after a save in each store that it has changed, by the store's identifier.
    func historyTokens(of saved: ObjectContext.Saved) -> [String: any HistoryToken] {
        var numbers = saved.transactions
        var tokens: [String: any HistoryToken] = [:]
        for store in model.allStores {
            guard let custom = store as? any OtherStore,
                let number = numbers.removeValue(forKey: store.identifier)
            else { continue }
            tokens[custom.storeIdentifier] = custom.takeToken(of: number)
        }
        return tokens.merging(history.tokens(of: numbers)) { custom, _ in custom }
    }

    /// A model of an entity that says that it is deleted. For an entity that the container does not
    /// have it is one without properties.
    func goneModel(entityName: String, _ context: ModelContext) -> any PersistentModel {
        let type = types[entityName] ?? UnknownModel.self
        return type.gone(from: context)
    }

    /// The name of a property in its class.
    func propertyName(of entityName: String, _ storeName: String) -> String {
        let properties = types[entityName].map { ModelDescription.of($0).properties } ?? []
        return properties.first { $0.storeName == storeName }?.name ?? storeName
    }

    func log(_ message: String) { Log.write(message) }
}

extension ObjectEntity {
    convenience init(_ description: ModelDescription, _ entity: LarderModel.Entity) {
        let type = description.type
        self.init(
            entity, names: description.properties.map(\.storeName),
            ephemeral: description.ephemeralValues,
            OwnerClass(
                make: { type.init(_$object: $0) },
                notify: { owner, slot in (owner as? any PersistentModel)?._$notify(slot: slot) },
                isClass: { ObjectIdentifier(Swift.type(of: $0)) == ObjectIdentifier(type) }))
    }
}
