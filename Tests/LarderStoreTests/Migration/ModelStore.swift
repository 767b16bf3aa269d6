import LarderModel
import LarderQuery
import TestSupport

@testable import QueryFuzzing

/// The declarations of a schema, which a random migration changes one by one.
struct ModelSchema {
    struct ModelEntity {
        var name: String
        var originalName: String?
        var parent: String?
        var isAbstract: Bool
        var attributes: [ModelAttribute]
        var relationships: [ModelRelationship]
        var unique: [[String]]
        var indexes: [[String]]
        var hashModifier: String?
    }

    struct ModelAttribute {
        var name: String
        var originalName: String?
        var type: AttributeType
        var isOptional: Bool
        var defaultValue: Value?
        var isUnique: Bool
        var isIndexed: Bool
        var isIndexedInsensitively = false
        var search: Attribute.SearchIndexes = []
        var validation = Attribute.Validation()
        var hashModifier: String?

        var indexed: Attribute.Matching? {
            if type == .string, isIndexedInsensitively { return .insensitive }
            return isIndexed ? .exact : nil
        }

        /// Adds or removes one of the indexes that only texts have.
        mutating func changeTextIndex(_ random: inout SeededGenerator) {
            if random.once(in: 3) {
                isIndexedInsensitively.toggle()
            } else {
                search.formSymmetricDifference(random.once(in: 2) ? .parts : .words)
            }
        }
    }

    struct ModelRelationship {
        var name: String
        var originalName: String?
        var destination: String
        var isToMany: Bool
        var isOrdered: Bool
        var isOptional: Bool
        var inverse: String?
        var hashModifier: String?
    }

    var version: Int
    var entities: [ModelEntity]

    init(_ schema: Schema) {
        version = 1
        entities = schema.entities.map { entity in
            let declared = entity.declared
            return ModelEntity(
                name: entity.name, originalName: nil, parent: entity.parent,
                isAbstract: entity.isAbstract,
                attributes: declared.attributes.map {
                    ModelAttribute(
                        name: $0.name, originalName: nil, type: $0.type,
                        isOptional: $0.isOptional, defaultValue: $0.defaultValue,
                        isUnique: $0.isUnique, isIndexed: $0.indexed == .exact,
                        isIndexedInsensitively: $0.indexed == .insensitive, search: $0.search,
                        hashModifier: $0.hashModifier)
                },
                relationships: declared.relationships.map {
                    ModelRelationship(
                        name: $0.name, originalName: nil, destination: $0.destination,
                        isToMany: $0.isToMany, isOrdered: $0.isOrdered, isOptional: $0.isOptional,
                        inverse: $0.inverse, hashModifier: $0.hashModifier)
                },
                unique: Array(
                    declared.uniquenessConstraints.dropFirst(
                        declared.attributes.count(where: \.isUnique))),
                indexes: Array(
                    declared.indexes.dropFirst(
                        declared.attributes.count { $0.indexed == .exact })),
                hashModifier: entity.hashModifier)
        }
    }

    func schema() throws -> Schema {
        try Schema(
            version: "\(version).0.0",
            entities: entities.map { entity in
                Entity(
                    name: entity.name,
                    attributes: entity.attributes.map {
                        Attribute(
                            name: $0.name, type: $0.type, isOptional: $0.isOptional,
                            defaultValue: $0.defaultValue, unique: $0.isUnique ? .exact : nil,
                            indexed: $0.indexed, search: $0.type == .string ? $0.search : [],
                            originalName: $0.originalName,
                            hashModifier: $0.hashModifier, validation: $0.validation)
                    },
                    relationships: entity.relationships.map {
                        Relationship(
                            name: $0.name, destination: $0.destination, isToMany: $0.isToMany,
                            isOrdered: $0.isOrdered, isOptional: $0.isOptional,
                            inverse: $0.inverse, originalName: $0.originalName,
                            hashModifier: $0.hashModifier)
                    }, uniquenessConstraints: entity.unique, indexes: entity.indexes,
                    parent: entity.parent, isAbstract: entity.isAbstract,
                    originalName: entity.originalName, hashModifier: entity.hashModifier)
            })
    }

    func index(of entity: String) -> Int? { entities.firstIndex { $0.name == entity } }

    /// The entity and all below it.
    func kinds(of entity: String) -> Set<String> {
        var kinds: Set = [entity]
        while true {
            let below = entities.filter { $0.parent.map(kinds.contains) == true }.map(\.name)
            if kinds.isSuperset(of: below) { return kinds }
            kinds.formUnion(below)
        }
    }
}

/// The objects of a store with the values of all properties.
struct ModelObjects: Equatable {
    struct Key: Hashable {
        var entity: String
        var key: Int64
    }

    struct Object: Equatable {
        var version: Int64
        var values: [String: Value]
        /// The objects of to-many relationships; sorted by their keys if they are not ordered.
        var lists: [String: [Key]]
        var links: [String: Key?]
    }

    var objects: [Key: Object] = [:]

    /// Reads all objects of a store.
    init(_ reader: any StoreReader, _ description: StoreDescription, keysMax: Int64) throws {
        let schema = description.schema
        for entity in schema.entities where !entity.isAbstract {
            let identifiers = (1...keysMax).map {
                PersistentIdentifier(
                    store: description.identifier, entityName: entity.name, key: $0)
            }
            let batches = try reader.objects(identifiers, properties: nil, budget: ReadBudget())
            for record in batches.flatMap({ $0.records(store: description.identifier) })
            where record.identifier.entityName == entity.name {
                objects[Key(record.identifier)] = Self.object(record, entity)
            }
        }
    }

    private static func object(_ record: Record, _ entity: Entity) -> Object {
        var object = Object(version: record.version, values: [:], lists: [:], links: [:])
        for (name, value) in record.values {
            switch entity.property(named: name) {
            case .attribute: object.values[name] = value
            case .relationship(let relationship) where relationship.isToMany:
                guard case .objects(let others) = value else { continue }
                let keys = others.map(Key.init)
                object.lists[name] =
                    relationship.isOrdered ? keys : keys.sorted(by: Key.precedes)
            case .relationship:
                if case .object(let other) = value {
                    object.links[name] = .some(Key(other))
                } else {
                    object.links[name] = .some(nil)
                }
            case nil: continue
            }
        }
        return object
    }
}

extension ModelObjects.Key {
    init(_ identifier: PersistentIdentifier) {
        self.init(entity: identifier.entityName, key: identifier.permanentKey ?? 0)
    }

    static func precedes(_ left: Self, _ right: Self) -> Bool {
        (left.key, left.entity) < (right.key, right.entity)
    }
}
