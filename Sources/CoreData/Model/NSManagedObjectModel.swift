internal import CoreDataPredicates
public import Foundation
package import LarderModel
internal import LarderObjects
internal import LarderQuery
internal import Synchronization

/// The entities of stores.
///
/// A model is made in code. It is read when a store of it is opened; later changes have no effect.
///
/// Sendable unchecked: a program changes a model before it passes it to another thread. What is
/// made of it is under a lock.
open class NSManagedObjectModel: NSObject, @unchecked Sendable {
    /// The entities with their subentities.
    open var entities: [NSEntityDescription] {
        didSet { for entity in entities { entity.managedObjectModel = self } }
    }

    /// The stored requests by their names.
    open var fetchRequestTemplatesByName: [String: NSFetchRequest<any NSFetchRequestResult>] = [:]

    private var configured: [String: [NSEntityDescription]] = [:]
    private let compiled = Mutex<CompiledModel?>(nil)

    public override init() { entities = [] }

    open var entitiesByName: [String: NSEntityDescription] {
        Dictionary(
            entities.compactMap { entity in entity.name.map { ($0, entity) } },
            uniquingKeysWith: { first, _ in first })
    }

    /// The names of the sets of entities that a store may have.
    open var configurations: [String] { configured.keys.sorted() }

    /// The entities of a configuration; nil if it does not exist.
    open func entities(forConfigurationName configuration: String?) -> [NSEntityDescription]? {
        configuration.map { configured[$0] } ?? entities
    }

    open func setEntities(
        _ entities: [NSEntityDescription], forConfigurationName configuration: String
    ) {
        configured[configuration] = entities
    }

    /// The model as stores and contexts use it, made once.
    ///
    /// - Throws: `malformedSchema` with every problem.
    func compile() throws(LarderError) -> CompiledModel {
        try compiled.withLock { known throws(LarderError) in
            if let known { return known }
            let new = try CompiledModel(self)
            // Initializers set the entities without observers.
            for entity in allEntities { entity.managedObjectModel = self }
            known = new
            return new
        }
    }

    /// The model of a store's schema.
    package convenience init(_ schema: Schema) {
        self.init()
        var descriptions: [String: NSEntityDescription] = [:]
        for entity in schema.entities { descriptions[entity.name] = NSEntityDescription(entity) }
        for entity in schema.entities {
            descriptions[entity.name]?.connect(entity, descriptions)
        }
        self.entities = schema.entities.compactMap { descriptions[$0.name] }
        for entity in self.entities { entity.managedObjectModel = self }
        var entities: [String: ObjectEntity] = [:]
        for entity in schema.entities {
            // It has no class or transient attribute that could be wrong.
            entities[entity.name] = try? descriptions[entity.name]?.objectEntity(entity)
        }
        let made = CompiledModel(schema, entities, descriptions)
        compiled.withLock { $0 = made }
    }
}

/// A model as stores and contexts use it.
///
/// Sendable unchecked: it is immutable, but for the descriptions, which a program does not change
/// any more.
final class CompiledModel: @unchecked Sendable {
    let schema: Schema
    let entities: [String: ObjectEntity]
    let descriptions: [String: NSEntityDescription]
    /// The descriptions of the properties of each entity, by slot.
    let properties: [String: [NSPropertyDescription?]]

    init(
        _ schema: Schema, _ entities: [String: ObjectEntity],
        _ descriptions: [String: NSEntityDescription]
    ) {
        self.schema = schema
        self.entities = entities
        self.descriptions = descriptions
        properties = Self.properties(entities, descriptions)
    }

    private static func properties(
        _ entities: [String: ObjectEntity], _ descriptions: [String: NSEntityDescription]
    ) -> [String: [NSPropertyDescription?]] {
        entities.mapValues { entity in
            let known = descriptions[entity.name]?.propertiesByName ?? [:]
            return entity.properties.map { known[$0.name] }
        }
    }

    init(_ model: NSManagedObjectModel) throws(LarderError) {
        let all = model.allEntities
        var descriptions: [String: NSEntityDescription] = [:]
        for entity in all { descriptions[entity.name ?? ""] = entity }
        var entities: [Entity] = []
        for entity in all { entities.append(try entity.storeEntity()) }
        do throws(SchemaError) {
            schema = try Schema(entities: entities)
        } catch {
            throw error.larderError
        }
        var compiled: [String: ObjectEntity] = [:]
        for entity in schema.entities {
            guard let description = descriptions[entity.name] else { continue }
            compiled[entity.name] = try description.objectEntity(entity)
        }
        self.entities = compiled
        self.descriptions = descriptions
        properties = Self.properties(compiled, descriptions)
    }

    /// The part of the schema with some entities.
    func schema(of names: Set<String>) throws(LarderError) -> Schema {
        do throws(SchemaError) {
            return try Schema(
                version: schema.version,
                entities: schema.entities.filter { names.contains($0.name) })
        } catch {
            throw error.larderError
        }
    }
}

extension NSManagedObjectModel {
    /// The entities with their subentities, each once.
    var allEntities: [NSEntityDescription] {
        var all: [NSEntityDescription] = []
        var seen: Set<ObjectIdentifier> = []
        var pending = Array(entities.reversed())
        while let entity = pending.popLast() {
            guard seen.insert(ObjectIdentifier(entity)).inserted else { continue }
            all.append(entity)
            pending += entity.subentities.reversed()
        }
        return all
    }
}
