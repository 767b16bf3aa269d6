public import LarderObjects

// The accessors of a model's relationships.

extension StoredObject {
    // MARK: - To one

    public func initialize<Model: PersistentModel, Member: PersistentModel>(
        at slot: Int, _ keyPath: KeyPath<Model, Member>, to value: Member
    ) {
        setOwners([value.asOwner], at: slot)
    }

    public func initialize<Model: PersistentModel, Member: PersistentModel>(
        at slot: Int, _ keyPath: KeyPath<Model, Member?>, to value: Member?
    ) {
        setOwners(value.map { [$0.asOwner] } ?? [], at: slot)
    }

    /// A required relationship whose object does not exist any more has an instance without values.
    public func getValue<Model: PersistentModel, Member: PersistentModel>(
        of model: Model, _ keyPath: KeyPath<Model, Member>, at slot: Int
    ) -> Member {
        access(model, keyPath: keyPath)
        if let member = related(model, slot).first as? Member { return member }
        if let known = decoded(at: slot), let blank = known as? Member { return blank }
        let blank = Member.gone(from: model._$context)
        keep(blank, of: self[slot], at: slot)
        return blank
    }

    public func getValue<Model: PersistentModel, Member: PersistentModel>(
        of model: Model, _ keyPath: KeyPath<Model, Member?>, at slot: Int
    ) -> Member? {
        access(model, keyPath: keyPath)
        return related(model, slot).first as? Member
    }

    public func setValue<Model: PersistentModel, Member: PersistentModel>(
        of model: Model, _ keyPath: KeyPath<Model, Member>, at slot: Int, to value: Member
    ) {
        withMutation(of: model, keyPath: keyPath) { setRelated([value.asOwner], of: model, slot) }
        model._$context?.modelDidChange()
    }

    public func setValue<Model: PersistentModel, Member: PersistentModel>(
        of model: Model, _ keyPath: KeyPath<Model, Member?>, at slot: Int, to value: Member?
    ) {
        withMutation(of: model, keyPath: keyPath) {
            setRelated(value.map { [$0.asOwner] } ?? [], of: model, slot)
        }
        model._$context?.modelDidChange()
    }

    // MARK: - To many

    public func initialize<Model: PersistentModel, Member: RelationshipCollection>(
        at slot: Int, _ keyPath: KeyPath<Model, Member>, to value: Member
    ) {
        setOwners(value._models.map(\.asOwner), at: slot)
    }

    public func getValue<Model: PersistentModel, Member: RelationshipCollection>(
        of model: Model, _ keyPath: KeyPath<Model, Member>, at slot: Int
    ) -> Member {
        access(model, keyPath: keyPath)
        return ._collection(of: model.list(at: slot))
    }

    public func setValue<Model: PersistentModel, Member: RelationshipCollection>(
        of model: Model, _ keyPath: KeyPath<Model, Member>, at slot: Int, to value: Member
    ) {
        withMutation(of: model, keyPath: keyPath) { model.setList(value._models, at: slot) }
        model._$context?.modelDidChange()
    }

    /// A list that is edited in place.
    public subscript<Model: PersistentModel, Member: RelationshipCollection>(
        of model: Model, keyPath: KeyPath<Model, Member>, at slot: Int
    ) -> Member {
        get { getValue(of: model, keyPath, at: slot) }
        set { setValue(of: model, keyPath, at: slot, to: newValue) }
        _modify {
            access(model, keyPath: keyPath)
            observers?.registrar.willSet(model, keyPath: keyPath)
            var (list, models): (ModelList<Member.PersistentElement>, [Member.PersistentElement]) =
                model.takeList(at: slot)
            var value = Member._collection(of: models)
            models = []
            defer {
                model.setList(value._models, at: slot, editing: list)
                observers?.registrar.didSet(model, keyPath: keyPath)
                model._$context?.modelDidChange()
            }
            yield &value
        }
    }

    /// An attribute that is written as a list. It is encoded as a whole.
    @_disfavoredOverload
    public subscript<Model: PersistentModel, Member: Codable>(
        of model: Model, keyPath: KeyPath<Model, Member>, at slot: Int
    ) -> Member {
        get { getValue(of: model, keyPath, at: slot) }
        set { setValue(of: model, keyPath, at: slot, to: newValue) }
    }

    // MARK: -

    private func related<Model: PersistentModel>(
        _ model: Model, _ slot: Int
    ) -> [any ObjectOwner] {
        model._$unite()
        return model._$object.relatedOwners(at: slot)
    }

    /// Sets a relationship. Models without a context that are related to one in a context join it.
    func setRelated<Model: PersistentModel>(
        _ owners: [any ObjectOwner], of model: Model, _ slot: Int
    ) {
        model._$unite()
        let object = model._$object
        if object.owner == nil { object.owner = model }
        if object.isManaged, let context = model._$context {
            context.setRelated(owners, of: object, slot)
            return
        }
        object.setOwners(owners, at: slot)
        model.joinContext(of: owners)
    }
}

extension PersistentModel {
    /// The model as an owner of its object, which the object can find from now on.
    var asOwner: any ObjectOwner {
        if _$object.owner == nil { _$object.owner = self }
        return self
    }

    /// A model of an object that does not exist any more.
    static func gone(from context: ModelContext?) -> Self {
        let object = StoredObject()
        object.becomeGone()
        return detached(object)
    }

    /// A model of an object without a context.
    static func detached(_ object: StoredObject) -> Self {
        let model = Self(backingData: StoredBackingData<Self>(object))
        model._$object = object
        object.owner = model
        return model
    }
}
