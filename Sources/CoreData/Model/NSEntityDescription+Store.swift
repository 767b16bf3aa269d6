internal import CoreDataPredicates
internal import Foundation
internal import LarderModel
internal import LarderObjects

extension NSEntityDescription {
    // MARK: - To the store

    /// The entity as a store has it. A transient attribute is not one of the store.
    ///
    /// - Throws: `malformedSchema` for what no store has.
    func storeEntity() throws(LarderError) -> Entity {
        guard let name else { throw Self.malformed("an entity has no name") }
        var attributes: [Attribute] = []
        var relationships: [Relationship] = []
        for property in ownProperties {
            switch property {
            case let attribute as NSAttributeDescription where !attribute.isTransient:
                attributes.append(try attribute.storeAttribute(of: name))
            case is NSAttributeDescription, is NSFetchedPropertyDescription: break
            case let relationship as NSRelationshipDescription:
                relationships.append(try relationship.storeRelationship(of: name))
            default:
                throw Self.malformed(
                    "\(name).\(property.name) is neither an attribute nor a relationship")
            }
        }
        return Entity(
            name: name, attributes: attributes, relationships: relationships,
            uniquenessConstraints: uniquenessConstraints.map { $0.compactMap(Self.name) },
            indexes: indexes.map { $0.elements.compactMap { $0.property?.name } },
            parent: superentity?.name, isAbstract: isAbstract, originalName: renamingIdentifier,
            hashModifier: versionHashModifier)
    }

    private static func name(of property: Any) -> String? {
        (property as? NSPropertyDescription)?.name ?? property as? String
    }

    static func malformed(_ reason: String, hint: String? = nil) -> LarderError {
        LarderError(.malformedSchema, reason, hint: hint)
    }

    /// The entity as contexts use it.
    ///
    /// - Throws: `malformedSchema` for a class that the program does not have.
    func objectEntity(_ entity: Entity) throws(LarderError) -> ObjectEntity {
        if let unknownClassName {
            throw Self.malformed(
                "the class \(unknownClassName) of the entity \(entity.name) does not exist",
                hint: "set managedObjectClass to the class")
        }
        var transient: [String: Value] = [:]
        for case let attribute as NSAttributeDescription in properties where attribute.isTransient {
            transient[attribute.name] = try attribute.storeValue(of: attribute.defaultValue)
        }
        return ObjectEntity(
            entity, names: properties.map(\.name), ephemeral: transient,
            OwnerClass(
                make: { [self] object in
                    let instance = managedObjectClass.init(entity: self, insertInto: nil)
                    instance._$object = object
                    return instance
                },
                notify: { _, _ in }))
    }

    // MARK: - From the store

    /// The description of an entity of a store, without its relationships.
    convenience init(_ entity: Entity) {
        self.init()
        name = entity.name
        isAbstract = entity.isAbstract
        renamingIdentifier = entity.originalName
        versionHashModifier = entity.hashModifier
        properties = entity.declared.attributes.map { attribute in
            if let derivation = attribute.derivation {
                let derived = NSDerivedAttributeDescription(attribute)
                derived.derivationExpression = NSExpression(format: derivation)
                return derived
            }
            return NSAttributeDescription(attribute)
        }
        uniquenessConstraints = entity.declared.uniquenessConstraints
        let attributes = propertiesByName
        indexes = entity.declared.indexes.map { names in
            NSFetchIndexDescription(
                name: names.joined(separator: "_"),
                elements: names.compactMap { attributes[$0] }.map {
                    NSFetchIndexElementDescription(property: $0, collationType: .binary)
                })
        }
    }

    /// Adds the relationships and the superentity.
    func connect(_ entity: Entity, _ descriptions: [String: NSEntityDescription]) {
        if let parent = entity.parent.flatMap({ descriptions[$0] }) {
            parent.subentities.append(self)
        }
        let relationships = entity.declared.relationships.map { relationship in
            let description = NSRelationshipDescription(relationship)
            description.destinationEntity = descriptions[relationship.destination]
            return description
        }
        properties = ownProperties + relationships
        for description in relationships {
            guard let destination = description.destinationEntity,
                case .relationship(let own)? = entity.property(named: description.name),
                let inverse = own.inverse,
                let other = destination.propertiesByName[inverse] as? NSRelationshipDescription
            else { continue }
            description.inverseRelationship = other
            other.inverseRelationship = description
        }
    }
}
