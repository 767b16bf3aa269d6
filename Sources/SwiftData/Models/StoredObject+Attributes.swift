internal import LarderModel
public import LarderObjects
public import Observation

// The accessors of a model's attributes, which the macro calls with the slot of the property. The
// key path has the property's type, and is what Observation needs.

public typealias _StoredObject = StoredObject

public func _newObject() -> StoredObject { StoredObject() }

// The storage for the initial value of a property. There is none for nil and an empty relationship,
// which a property has before it is set, so that an instance for an object of a context does not
// make another object for its default values.

@inlinable
public func _storage<Member>(
    _ storage: inout StoredObject?, for value: Member
) -> StoredObject? {
    if storage == nil { storage = _newObject() }
    return storage
}

@inlinable
public func _storage<Member>(
    _ storage: inout StoredObject?, for value: Member?
) -> StoredObject? {
    if storage == nil, value != nil { storage = _newObject() }
    return storage
}

@inlinable
public func _storage<Member: PersistentModel>(
    _ storage: inout StoredObject?, for value: [Member]
) -> StoredObject? {
    if storage == nil, !value.isEmpty { storage = _newObject() }
    return storage
}

extension StoredObject {
    // MARK: - Observation

    @inlinable
    public func access<Model: PersistentModel, Member>(
        _ model: Model, keyPath: KeyPath<Model, Member>
    ) {
        if let observers {
            observers.registrar.access(model, keyPath: keyPath)
        } else {
            firstAccess(model, keyPath)
        }
    }

    @usableFromInline
    func firstAccess<Model: PersistentModel, Member>(
        _ model: Model, _ keyPath: KeyPath<Model, Member>
    ) {
        let new = makeObservers()
        if owner == nil { owner = model }
        new.registrar.access(model, keyPath: keyPath)
    }

    @inlinable
    public func withMutation<Model: PersistentModel, Member, Result>(
        of model: Model, keyPath: KeyPath<Model, Member>, _ mutation: () throws -> Result
    ) rethrows -> Result {
        guard let observers else { return try mutation() }
        return try observers.registrar.withMutation(of: model, keyPath: keyPath, mutation)
    }

    /// Tells the observers of a property that it has changed by other means than its setter.
    public func notify<Model: PersistentModel, Member>(
        _ model: Model, _ keyPath: KeyPath<Model, Member>
    ) {
        observers?.registrar.withMutation(of: model, keyPath: keyPath) {}
    }

    // MARK: - Scalars

    @inlinable
    public func initialize<Model: PersistentModel, Member: _AttributeScalar>(
        at slot: Int, _ keyPath: KeyPath<Model, Member>, to value: Member
    ) {
        setValue(value._cell, at: slot)
    }

    @inlinable
    public func getValue<Model: PersistentModel, Member: _AttributeScalar>(
        of model: Model, _ keyPath: KeyPath<Model, Member>, at slot: Int
    ) -> Member {
        let (member, hasObservers) = observed(
            at: slot, as: { Member(_cell: $0) },
            { $0.registrar.access(model, keyPath: keyPath) })
        if !hasObservers { firstAccess(model, keyPath) }
        if let member { return member }
        return readScalar(model, slot)
    }

    @usableFromInline
    func readScalar<Model: PersistentModel, Member: _AttributeScalar>(
        _ model: Model, _ slot: Int
    ) -> Member {
        model._$unite()
        let object = model._$object
        guard let value = object.value(at: slot) else { return Member._blank }
        if let member = Member(_cell: value) { return member }
        if !value.isNull { object.becomeUnreadable(as: Member.self, at: slot) }
        return Member._blank
    }

    @inlinable
    public func setValue<Model: PersistentModel, Member: _AttributeScalar>(
        of model: Model, _ keyPath: KeyPath<Model, Member>, at slot: Int, to value: Member
    ) {
        withMutation(of: model, keyPath: keyPath) { setValue(value._cell, at: slot) }
        model._$context?.modelDidChange()
    }

    // MARK: - Other types

    @_disfavoredOverload
    public func initialize<Model: PersistentModel, Member: Codable>(
        at slot: Int, _ keyPath: KeyPath<Model, Member>, to value: Member
    ) {
        encode(value, Model.self, at: slot)
    }

    @_disfavoredOverload
    public func getValue<Model: PersistentModel, Member: Codable>(
        of model: Model, _ keyPath: KeyPath<Model, Member>, at slot: Int
    ) -> Member {
        access(model, keyPath: keyPath)
        return decodedValue(model, at: slot)
    }

    @_disfavoredOverload
    public func setValue<Model: PersistentModel, Member: Codable>(
        of model: Model, _ keyPath: KeyPath<Model, Member>, at slot: Int, to value: Member
    ) {
        withMutation(of: model, keyPath: keyPath) { encode(value, Model.self, at: slot) }
        model._$context?.modelDidChange()
    }

    // MARK: - Transformable values

    public func initializeTransformable<Model: PersistentModel, Member>(
        at slot: Int, _ keyPath: KeyPath<Model, Member>, to value: Member
    ) {
        encode(value, Model.self, at: slot)
    }

    public func getTransformableValue<Model: PersistentModel, Member>(
        of model: Model, _ keyPath: KeyPath<Model, Member>, at slot: Int
    ) -> Member {
        access(model, keyPath: keyPath)
        return decodedValue(model, at: slot)
    }

    public func setTransformableValue<Model: PersistentModel, Member>(
        of model: Model, _ keyPath: KeyPath<Model, Member>, at slot: Int, to value: Member
    ) {
        withMutation(of: model, keyPath: keyPath) { encode(value, Model.self, at: slot) }
        model._$context?.modelDidChange()
    }

    /// Stores a value in the form that the attribute has, and keeps it as it is.
    private func encode<Model: PersistentModel, Member>(
        _ value: Member, _ type: Model.Type, at slot: Int
    ) {
        let property = ModelDescription.of(type).properties[slot]
        var stored = Value.null
        var refusal: String?
        do {
            stored = try property.coding?.encode(value) ?? .null
        } catch {
            refusal = "the value cannot be encoded: \(String(safelyDescribing: error))"
        }
        setValue(stored, at: slot)
        if let refusal { refuse(refusal, at: slot) }
        keep(value, of: stored, at: slot)
        BlankValues.remember(value)
    }

    private func decodedValue<Model: PersistentModel, Member>(
        _ model: Model, at slot: Int
    ) -> Member {
        // A missing value must not be cast: nil is a value of an optional type.
        if let known = decoded(at: slot), let member = known as? Member { return member }
        model._$unite()
        let object = model._$object
        if let known = object.decoded(at: slot), let member = known as? Member { return member }
        let property = ModelDescription.of(type(of: model)).properties[slot]
        if let value = object.value(at: slot) {
            if let known = property.coding?.decode(value), let member = known as? Member {
                object.keep(member, of: value, at: slot)
                BlankValues.remember(member)
                return member
            }
            if !value.isNull {
                object.becomeUnreadable(as: Member.self, at: slot)
            } else if let none = BlankValues.none(Member.self) {
                return none
            }
        }
        return BlankValues.value(of: property)
    }

    /// Says that the stored value is not one of the property's type, so that a default value is
    /// shown.
    private func becomeUnreadable<Member>(as type: Member.Type, at slot: Int) {
        becomeUnreadable(
            "the stored value is not a value of \(type), so that a default value was shown",
            at: slot)
    }
}
