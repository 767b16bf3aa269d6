public import LarderObjects

// The accessors of properties whose types cannot be persisted. The compiler chooses them last, and
// then reports what to do.

extension StoredObject {
    @available(
        *, unavailable, message: "a to-many relationship is an array of models, not a Set of them"
    )
    @_disfavoredOverload
    public func initialize<Model: PersistentModel, Element: PersistentModel>(
        at slot: Int, _ keyPath: KeyPath<Model, Set<Element>>, to value: Set<Element>
    ) {}

    @available(
        *, unavailable, message: "a to-many relationship is an array of models, not a Set of them"
    )
    @_disfavoredOverload
    public func getValue<Model: PersistentModel, Element: PersistentModel>(
        of model: Model, _ keyPath: KeyPath<Model, Set<Element>>, at slot: Int
    ) -> Set<Element> { [] }

    @available(
        *, unavailable, message: "a to-many relationship is an array of models, not a Set of them"
    )
    @_disfavoredOverload
    public func setValue<Model: PersistentModel, Element: PersistentModel>(
        of model: Model, _ keyPath: KeyPath<Model, Set<Element>>, at slot: Int,
        to value: Set<Element>
    ) {}

    @available(
        *, unavailable,
        message: """
            a persisted property is Codable, a model or an array of models; make its type Codable, \
            or mark it with @Transient or @Attribute(.transformable(by:))
            """
    )
    @_disfavoredOverload
    public func initialize<Model: PersistentModel, Member>(
        at slot: Int, _ keyPath: KeyPath<Model, Member>, to value: Member
    ) {}

    @available(
        *, unavailable,
        message: """
            a persisted property is Codable, a model or an array of models; make its type Codable, \
            or mark it with @Transient or @Attribute(.transformable(by:))
            """
    )
    @_disfavoredOverload
    public func getValue<Model: PersistentModel, Member>(
        of model: Model, _ keyPath: KeyPath<Model, Member>, at slot: Int
    ) -> Member { preconditionFailure("unavailable") }

    @available(
        *, unavailable,
        message: """
            a persisted property is Codable, a model or an array of models; make its type Codable, \
            or mark it with @Transient or @Attribute(.transformable(by:))
            """
    )
    @_disfavoredOverload
    public func setValue<Model: PersistentModel, Member>(
        of model: Model, _ keyPath: KeyPath<Model, Member>, at slot: Int, to value: Member
    ) {}
}
