internal import LarderModel
internal import LarderObjects

/// Backing data of a type that a program writes, whose values are copied into an object.
struct ForeignBackingData<Data: BackingData> {
    private typealias Model = Data.Model

    private let data: Data
    private let description = ModelDescription.of(Model.self)

    init(_ data: Data) { self.data = data }

    /// The key path of a property, which has a subclass as its root for an inherited one, too.
    private func keyPath(of property: ModelProperty) -> AnyKeyPath {
        description.rootedKeyPath(at: property.slot)
    }

    /// An object without a context that has the values and the identifier.
    func object() -> StoredObject {
        let object = StoredObject()
        if let identifier = data.persistentModelID { object.identifier = identifier }
        for property in description.properties {
            switch property.kind {
            case .attribute(let coding): copyAttribute(property, coding, to: object)
            case .toOne(let type):
                if let owner = toOne(type, property) {
                    object.setOwners([owner], at: property.slot)
                }
            case .toMany:
                object.setOwners(toMany(property), at: property.slot)
            }
        }
        return object
    }

    private func copyAttribute(
        _ property: ModelProperty, _ coding: AttributeCoding, to object: StoredObject
    ) {
        let value =
            coding.form == .transformed
            ? transformable(property.valueType, property)
            : (property.valueType as? any Decodable.Type).flatMap { attribute($0, property) }
        guard let value else { return }
        do {
            let stored = try coding.encode(value)
            object.setValue(stored, at: property.slot)
            object.keep(value, of: stored, at: property.slot)
        } catch {
            let reason = String(safelyDescribing: error)
            Log.write("\(Model.entityName).\(property.name) is not copied: \(reason)")
        }
    }

    private func attribute<Value: Decodable>(
        _ type: Value.Type, _ property: ModelProperty
    ) -> Any? {
        (keyPath(of: property) as? KeyPath<Model, Value>).map { data.getValue(forKey: $0) }
    }

    private func transformable<Value>(_ type: Value.Type, _ property: ModelProperty) -> Any? {
        (keyPath(of: property) as? KeyPath<Model, Value>).map {
            data.getTransformableValue(forKey: $0)
        }
    }

    private func toOne<Value: PersistentModel>(
        _ type: Value.Type, _ property: ModelProperty
    ) -> (any ObjectOwner)? {
        if let keyPath = keyPath(of: property) as? KeyPath<Model, Value?> {
            return data.getValue(forKey: keyPath)?.asOwner
        }
        return (keyPath(of: property) as? KeyPath<Model, Value>).map {
            data.getValue(forKey: $0).asOwner
        }
    }

    private func toMany(_ property: ModelProperty) -> [any ObjectOwner] {
        func owners<Value: RelationshipCollection>(_ type: Value.Type) -> [any ObjectOwner] {
            guard let keyPath = keyPath(of: property) as? KeyPath<Model, Value> else { return [] }
            return data.getValue(forKey: keyPath)._models.map(\.asOwner)
        }
        return (property.valueType as? any RelationshipCollection.Type).map { owners($0) } ?? []
    }
}
