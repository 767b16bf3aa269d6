package import LarderModel

/// The entities of a container and the stores that have their objects.
package final class ObjectModel: Sendable {
    package let entities: [String: ObjectEntity]
    private let stores: [String: any ObjectStore]
    /// All stores, each once, in the order of their configurations.
    package let allStores: [any ObjectStore]
    /// The names of an entity and all of its subentities.
    private let families: [String: Set<String>]

    /// - Parameter stores: The store of each entity by the entity's name.
    package init(entities: [ObjectEntity], stores: [String: any ObjectStore]) {
        self.entities = Dictionary(uniqueKeysWithValues: entities.map { ($0.name, $0) })
        self.stores = stores
        var all: [any ObjectStore] = []
        for entity in entities {
            guard let store = stores[entity.name], !all.contains(where: { $0 === store }) else {
                continue
            }
            all.append(store)
        }
        allStores = all
        var families = self.entities.mapValues { Set([$0.name]) }
        for entity in entities {
            var ancestor = entity.entity.parent
            while let name = ancestor {
                families[name]?.insert(entity.name)
                ancestor = self.entities[name]?.entity.parent
            }
        }
        self.families = families
    }

    /// A model without entities.
    package static let empty = ObjectModel(entities: [], stores: [:])

    /// The model with these entities and other stores.
    ///
    /// - Parameter replacements: The new stores, in the order of ``allStores``.
    package func replacingStores(with replacements: [any ObjectStore]) -> ObjectModel {
        let stores = stores.mapValues { store in
            allStores.firstIndex { $0 === store }.map { replacements[$0] } ?? store
        }
        return ObjectModel(entities: Array(entities.values), stores: stores)
    }

    /// - Throws: `unknownEntity`.
    package func entity(named name: String) throws(LarderError) -> ObjectEntity {
        guard let entity = entities[name] else {
            throw LarderError(.unknownEntity, "the schema has no entity \(name)")
        }
        return entity
    }

    /// The entity of an instance.
    ///
    /// - Throws: `unknownEntity`, also for another class with the name of an entity.
    func entity(of owner: any ObjectOwner) throws(LarderError) -> ObjectEntity {
        let entity = try entity(named: owner._$entityName)
        guard entity.ownerClass.isClass(owner) else {
            throw LarderError(
                .unknownEntity, "the schema has another class for the entity \(entity.name)")
        }
        return entity
    }

    /// - Throws: `unknownEntity`.
    package func store(of entityName: String) throws(LarderError) -> any ObjectStore {
        guard let store = stores[entityName] else {
            throw LarderError(.unknownEntity, "no store has the entity \(entityName)")
        }
        return store
    }

    /// The store of an identifier; nil for a temporary one and one of another store.
    func store(of identifier: PersistentIdentifier) -> (any ObjectStore)? {
        guard let store = stores[identifier.entityName], identifier.store == store.identifier
        else { return nil }
        return store
    }

    /// Whether objects of an entity are among the objects of another one.
    package func isOf(_ entityName: String, _ ancestor: String) -> Bool {
        entityName == ancestor || families[ancestor]?.contains(entityName) == true
    }

    /// The name of the topmost ancestor of an entity.
    func rootName(of entityName: String) -> String {
        var name = entityName
        while let parent = entities[name]?.entity.parent { name = parent }
        return name
    }

    /// The other side of a relationship.
    func inverse(of property: ObjectProperty, in destination: ObjectEntity) -> ObjectProperty? {
        guard let name = property.relationship?.inverse, let slot = destination.slot(named: name)
        else { return nil }
        return destination.properties[slot]
    }
}
