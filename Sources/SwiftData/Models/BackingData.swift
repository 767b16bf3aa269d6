public import LarderObjects

/// The values of a model by key path.
///
/// A model shares the values of this module's backing data. It copies those of another kind when it
/// is made of it or gets it.
public protocol BackingData<Model> {
    associatedtype Model: PersistentModel

    init(for modelType: Model.Type)

    /// The identifier of the model. It can be set until the model is inserted, which gives it a
    /// temporary one.
    var persistentModelID: PersistentIdentifier? { get set }
    var metadata: Any { get }
    /// The object of this module's backing data; nil for another kind.
    var _$object: StoredObject? { get }

    @_disfavoredOverload
    func getValue<Value: Decodable>(forKey: KeyPath<Model, Value>) -> Value
    func getValue<Value: PersistentModel>(forKey: KeyPath<Model, Value>) -> Value
    func getValue<Value: PersistentModel>(forKey: KeyPath<Model, Value?>) -> Value?
    func getValue<Value: RelationshipCollection, OtherModel>(
        forKey: KeyPath<Model, Value>
    ) -> Value where OtherModel == Value.PersistentElement
    func getValue<Value: Decodable & RelationshipCollection, OtherModel>(
        forKey: KeyPath<Model, Value>
    ) -> Value where OtherModel == Value.PersistentElement

    @_disfavoredOverload
    func setValue<Value: Encodable>(forKey: KeyPath<Model, Value>, to newValue: Value)
    func setValue<Value: PersistentModel>(forKey: KeyPath<Model, Value>, to newValue: Value)
    func setValue<Value: PersistentModel>(forKey: KeyPath<Model, Value?>, to newValue: Value?)
    func setValue<Value: RelationshipCollection, OtherModel>(
        forKey: KeyPath<Model, Value>, to newValue: Value
    ) where OtherModel == Value.PersistentElement
    func setValue<Value: Encodable & RelationshipCollection, OtherModel>(
        forKey: KeyPath<Model, Value>, to newValue: Value
    ) where OtherModel == Value.PersistentElement

    func getTransformableValue<Value>(forKey: KeyPath<Model, Value>) -> Value
    func setTransformableValue<Value>(forKey: KeyPath<Model, Value>, to newValue: Value)
}

extension BackingData {
    public var _$object: StoredObject? { metadata as? StoredObject }
}

/// The values in an object of this module, which `persistentBackingData` of a model returns.
struct StoredBackingData<Model: PersistentModel>: BackingData {
    let object: StoredObject

    init(_ object: StoredObject) { self.object = object }

    init(for modelType: Model.Type) { self.init(StoredObject()) }

    var persistentModelID: PersistentIdentifier? {
        get { object.identifier(entityName: object.owner?._$entityName ?? Model.entityName) }
        set {
            // A context identifies its objects itself.
            guard object.status == .unmanaged else { return }
            object.identifier =
                newValue ?? StoredObject().identifier(entityName: Model.entityName)
        }
    }

    var metadata: Any { object }
    var _$object: StoredObject? { object }

    // A model over the same object has the accessors.
    private var model: Model {
        if let model = object.owner as? Model { return model }
        let model = Model(backingData: self)
        model._$object = object
        object.owner = model
        return model
    }

    func getValue<Value: Decodable>(forKey keyPath: KeyPath<Model, Value>) -> Value {
        model[keyPath: keyPath]
    }
    func getValue<Value: PersistentModel>(forKey keyPath: KeyPath<Model, Value>) -> Value {
        model[keyPath: keyPath]
    }
    func getValue<Value: PersistentModel>(forKey keyPath: KeyPath<Model, Value?>) -> Value? {
        model[keyPath: keyPath]
    }
    func getValue<Value: RelationshipCollection, OtherModel>(
        forKey keyPath: KeyPath<Model, Value>
    ) -> Value where OtherModel == Value.PersistentElement { model[keyPath: keyPath] }
    func getValue<Value: Decodable & RelationshipCollection, OtherModel>(
        forKey keyPath: KeyPath<Model, Value>
    ) -> Value where OtherModel == Value.PersistentElement { model[keyPath: keyPath] }
    func getTransformableValue<Value>(forKey keyPath: KeyPath<Model, Value>) -> Value {
        model[keyPath: keyPath]
    }

    func setValue<Value: Encodable>(forKey keyPath: KeyPath<Model, Value>, to newValue: Value) {
        set(keyPath, newValue)
    }
    func setValue<Value: PersistentModel>(
        forKey keyPath: KeyPath<Model, Value>, to newValue: Value
    ) { set(keyPath, newValue) }
    func setValue<Value: PersistentModel>(
        forKey keyPath: KeyPath<Model, Value?>, to newValue: Value?
    ) { set(keyPath, newValue) }
    func setValue<Value: RelationshipCollection, OtherModel>(
        forKey keyPath: KeyPath<Model, Value>, to newValue: Value
    ) where OtherModel == Value.PersistentElement { set(keyPath, newValue) }
    func setValue<Value: Encodable & RelationshipCollection, OtherModel>(
        forKey keyPath: KeyPath<Model, Value>, to newValue: Value
    ) where OtherModel == Value.PersistentElement { set(keyPath, newValue) }
    func setTransformableValue<Value>(forKey keyPath: KeyPath<Model, Value>, to newValue: Value) {
        set(keyPath, newValue)
    }

    private func set<Value>(_ keyPath: KeyPath<Model, Value>, _ newValue: Value) {
        model.set(keyPath, newValue)
    }
}

/// The backing data of a model, for its property `persistentBackingData`.
public func _backingData<Model: PersistentModel>(of model: Model) -> any BackingData<Model> {
    // A snapshot of the data has the values of the model's own class, too.
    model._$unite()
    return StoredBackingData<Model>(model.asOwner._$object)
}

/// The object of backing data: that of this module's, or one with the values of another kind, which
/// are copied.
public func _object<Model: PersistentModel>(
    of backingData: any BackingData<Model>
) -> StoredObject {
    func copy(_ data: some BackingData) -> StoredObject { ForeignBackingData(data).object() }
    return backingData._$object ?? copy(backingData)
}

/// Makes a model have the values of other backing data. A model of a subclass keeps those of its
/// own properties, which the backing data of its topmost class does not have.
public func _adopt<Model: PersistentModel>(
    _ backingData: any BackingData<Model>, by model: Model
) {
    model._$unite()
    let former = model._$object
    let object = _object(of: backingData)
    if former !== object {
        former.removeValues(ofSlotsBefore: ModelDescription.of(Model.self).properties.count)
    }
    model._$object = object
    model._$unite()
}
