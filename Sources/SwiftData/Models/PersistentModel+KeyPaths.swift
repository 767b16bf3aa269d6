// The properties of a model by key path, for generic code.

extension PersistentModel {
    @_disfavoredOverload
    public func getValue<Value: Decodable>(forKey keyPath: KeyPath<Self, Value>) -> Value {
        self[keyPath: keyPath]
    }

    public func getValue<Value: PersistentModel>(forKey keyPath: KeyPath<Self, Value>) -> Value {
        self[keyPath: keyPath]
    }

    public func getValue<Value: PersistentModel>(
        forKey keyPath: KeyPath<Self, Value?>
    ) -> Value? { self[keyPath: keyPath] }

    public func getValue<Value: RelationshipCollection, OtherModel>(
        forKey keyPath: KeyPath<Self, Value>
    ) -> Value where OtherModel == Value.PersistentElement { self[keyPath: keyPath] }

    public func getValue<Value: Decodable & RelationshipCollection, OtherModel>(
        forKey keyPath: KeyPath<Self, Value>
    ) -> Value where OtherModel == Value.PersistentElement { self[keyPath: keyPath] }

    public func getTransformableValue<Value>(forKey keyPath: KeyPath<Self, Value>) -> Value {
        self[keyPath: keyPath]
    }

    @_disfavoredOverload
    public func setValue<Value: Encodable>(
        forKey keyPath: KeyPath<Self, Value>, to newValue: Value
    ) { set(keyPath, newValue) }

    public func setValue<Value: PersistentModel>(
        forKey keyPath: KeyPath<Self, Value>, to newValue: Value
    ) { set(keyPath, newValue) }

    public func setValue<Value: PersistentModel>(
        forKey keyPath: KeyPath<Self, Value?>, to newValue: Value?
    ) { set(keyPath, newValue) }

    public func setValue<Value: RelationshipCollection, OtherModel>(
        forKey keyPath: KeyPath<Self, Value>, to newValue: Value
    ) where OtherModel == Value.PersistentElement { set(keyPath, newValue) }

    public func setValue<Value: Encodable & RelationshipCollection, OtherModel>(
        forKey keyPath: KeyPath<Self, Value>, to newValue: Value
    ) where OtherModel == Value.PersistentElement { set(keyPath, newValue) }

    public func setTransformableValue<Value>(
        forKey keyPath: KeyPath<Self, Value>, to newValue: Value
    ) { set(keyPath, newValue) }

    func set<Value>(_ keyPath: KeyPath<Self, Value>, _ newValue: Value) {
        guard let writable = keyPath as? ReferenceWritableKeyPath<Self, Value> else {
            return Log.write("\(Self.entityName): \(keyPath) cannot be set")
        }
        self[keyPath: writable] = newValue
    }
}
