internal import LarderModel
public import LarderObjects

// The values of properties that are declared with `let`. The instance has the value as well, which
// it gets from its object when it is made.

extension StoredObject {
    @_disfavoredOverload
    public func constant<Model: PersistentModel, Member: Codable>(
        in model: Model.Type, at slot: Int
    ) -> Member { decodedConstant(Model.self, slot) }

    public func transformableConstant<Model: PersistentModel, Member>(
        in model: Model.Type, at slot: Int
    ) -> Member { decodedConstant(Model.self, slot) }

    private func decodedConstant<Model: PersistentModel, Member>(
        _ type: Model.Type, _ slot: Int
    ) -> Member {
        let property = ModelDescription.of(type).properties[slot]
        if let value = value(at: slot), !value.isNull,
            let member = property.coding?.decode(value) as? Member
        {
            BlankValues.remember(member)
            return member
        }
        return BlankValues.value(of: property)
    }

    // MARK: - Relationships

    @available(
        *, unavailable,
        message: "a relationship changes with its other side; write 'private(set) var'"
    )
    public func constant<Model: PersistentModel, Member: PersistentModel>(
        in model: Model.Type, at slot: Int
    ) -> Member { preconditionFailure("unavailable") }

    @available(
        *, unavailable,
        message: "a relationship changes with its other side; write 'private(set) var'"
    )
    public func constant<Model: PersistentModel, Member: PersistentModel>(
        in model: Model.Type, at slot: Int
    ) -> Member? { nil }

    @available(
        *, unavailable,
        message: "a relationship changes with its other side; write 'private(set) var'"
    )
    public func constant<Model: PersistentModel, Member: RelationshipCollection>(
        in model: Model.Type, at slot: Int
    ) -> Member { ._collection(of: []) }

    @available(
        *, unavailable,
        message: """
            a persisted property is Codable, a model or an array of models; make its type Codable, \
            or mark it with @Transient or @Attribute(.transformable(by:))
            """
    )
    @_disfavoredOverload
    public func constant<Model: PersistentModel, Member>(
        in model: Model.Type, at slot: Int
    ) -> Member { preconditionFailure("unavailable") }
}
