internal import LarderModel
internal import LarderObjects

/// Whole objects from which snapshots are made.
struct SnapshotSource {
    private let types: [String: any PersistentModel.Type]
    private let rows: [PersistentIdentifier: [String: Value]]
    private var related: [PersistentIdentifier: any BackingData] = [:]

    /// - Parameter rows: The objects of which snapshots are made, and others to which they refer.
    init(
        _ rows: [PersistentIdentifier: [String: Value]], _ types: [String: any PersistentModel.Type]
    ) {
        self.rows = rows
        self.types = types
        for identifier in rows.keys { related[identifier] = backingData(of: identifier) }
    }

    mutating func snapshot<Snapshot: DataStoreSnapshot>(
        of identifier: PersistentIdentifier
    ) throws -> Snapshot {
        guard let backingData = related[identifier] ?? backingData(of: identifier) else {
            throw LarderError(
                .unknownEntity, "the store has no entity \(identifier.entityName)",
                uri: identifier.uriRepresentation)
        }
        return Snapshot(from: backingData, relatedBackingDatas: &related)
    }

    private func backingData(of identifier: PersistentIdentifier) -> (any BackingData)? {
        func make<Model: PersistentModel>(_ type: Model.Type) -> any BackingData {
            SnapshotBackingData<Model>(object(identifier, type), rows, types)
        }
        return types[identifier.entityName].map { make($0) }
    }

    private func object<Model: PersistentModel>(
        _ identifier: PersistentIdentifier, _ type: Model.Type
    ) -> StoredObject {
        StoredObject.detached(identifier, rows[identifier] ?? [:], type)
    }
}

extension StoredObject {
    /// An object without a context.
    fileprivate static func detached(
        _ identifier: PersistentIdentifier, _ values: [String: Value],
        _ type: any PersistentModel.Type
    ) -> StoredObject {
        let object = StoredObject()
        object.identifier = identifier
        for property in ModelDescription.of(type).properties {
            if let value = values[property.storeName] {
                object.setValue(value, at: property.slot)
            }
        }
        return object
    }
}

/// The values of an object as a store gets them: a model of a relationship has its identifier, and
/// the values of its attributes if it is part of the same save.
private struct SnapshotBackingData<Model: PersistentModel>: BackingData {
    private var stored: StoredBackingData<Model>
    private let rows: [PersistentIdentifier: [String: Value]]
    private let types: [String: any PersistentModel.Type]

    init(
        _ object: StoredObject, _ rows: [PersistentIdentifier: [String: Value]],
        _ types: [String: any PersistentModel.Type]
    ) {
        stored = StoredBackingData(object)
        self.rows = rows
        self.types = types
    }

    init(for modelType: Model.Type) { self.init(StoredObject(), [:], [:]) }

    var persistentModelID: PersistentIdentifier? {
        get { stored.persistentModelID }
        set { stored.persistentModelID = newValue }
    }

    var metadata: Any { stored.metadata }

    private func related<Value>(_ keyPath: KeyPath<Model, Value>) -> [any PersistentModel] {
        guard let property = ModelDescription.of(Model.self).property(of: keyPath) else {
            return []
        }
        return (stored.object[property.slot]?.links ?? []).compactMap { identifier in
            types[identifier.entityName].map {
                $0.detached(StoredObject.detached(identifier, rows[identifier] ?? [:], $0))
            }
        }
    }

    func getValue<Value: Decodable>(forKey keyPath: KeyPath<Model, Value>) -> Value {
        stored.getValue(forKey: keyPath)
    }
    func getValue<Value: PersistentModel>(forKey keyPath: KeyPath<Model, Value>) -> Value {
        related(keyPath).first as? Value ?? stored.getValue(forKey: keyPath)
    }
    func getValue<Value: PersistentModel>(forKey keyPath: KeyPath<Model, Value?>) -> Value? {
        related(keyPath).first as? Value
    }
    func getValue<Value: RelationshipCollection, OtherModel>(
        forKey keyPath: KeyPath<Model, Value>
    ) -> Value where OtherModel == Value.PersistentElement { collection(keyPath) }
    func getValue<Value: Decodable & RelationshipCollection, OtherModel>(
        forKey keyPath: KeyPath<Model, Value>
    ) -> Value where OtherModel == Value.PersistentElement { collection(keyPath) }
    func getTransformableValue<Value>(forKey keyPath: KeyPath<Model, Value>) -> Value {
        stored.getTransformableValue(forKey: keyPath)
    }

    private func collection<Value: RelationshipCollection>(
        _ keyPath: KeyPath<Model, Value>
    ) -> Value { ._collection(of: related(keyPath).compactMap { $0 as? Value.PersistentElement }) }

    func setValue<Value: Encodable>(forKey keyPath: KeyPath<Model, Value>, to newValue: Value) {
        stored.setValue(forKey: keyPath, to: newValue)
    }
    func setValue<Value: PersistentModel>(
        forKey keyPath: KeyPath<Model, Value>, to newValue: Value
    ) { stored.setValue(forKey: keyPath, to: newValue) }
    func setValue<Value: PersistentModel>(
        forKey keyPath: KeyPath<Model, Value?>, to newValue: Value?
    ) { stored.setValue(forKey: keyPath, to: newValue) }
    func setValue<Value: RelationshipCollection, OtherModel>(
        forKey keyPath: KeyPath<Model, Value>, to newValue: Value
    ) where OtherModel == Value.PersistentElement {
        stored.setValue(forKey: keyPath, to: newValue)
    }
    func setValue<Value: Encodable & RelationshipCollection, OtherModel>(
        forKey keyPath: KeyPath<Model, Value>, to newValue: Value
    ) where OtherModel == Value.PersistentElement {
        stored.setValue(forKey: keyPath, to: newValue)
    }
    func setTransformableValue<Value>(forKey keyPath: KeyPath<Model, Value>, to newValue: Value) {
        stored.setTransformableValue(forKey: keyPath, to: newValue)
    }
}
