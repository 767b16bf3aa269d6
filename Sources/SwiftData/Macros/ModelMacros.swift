/// Makes a class a model, whose instances a ``ModelContext`` fetches and saves.
///
///     @Model final class Item {
///         @Attribute(.unique) var title: String
///         var made = Date.now
///         @Relationship(deleteRule: .cascade, inverse: \Note.item) var notes: [Note] = []
///
///         init(title: String) { self.title = title }
///     }
///
/// Each stored property is persisted unless it is marked with ``Transient()``; its observers are
/// called. A property of the type of another model, of an optional of one, or of an array of models
/// is a relationship; any other property is an attribute.
@attached(
    member, conformances: Observable, PersistentModel, Sendable, _ModelRoot,
    names: named(_$object), prefixed(`_$object_`), prefixed(`_$storage_`), prefixed(`_$values_`),
    prefixed(`_$firstSlot_`), named(_$context), named(_$lists),
    named(persistentBackingData), named(schemaMetadata), named(_$constantDefaults),
    named(_$inheritedKeyPaths), named(_$keyPaths), named(init),
    named(access), named(withMutation), named(_$notify), named(_$unite))
@attached(memberAttribute)
@attached(extension, conformances: Observable, PersistentModel, Sendable, _ModelRoot)
public macro Model() = #externalMacro(module: "SwiftDataMacros", type: "PersistentModelMacro")

/// Makes an actor a ``ModelActor`` with a context and an executor of its own.
@attached(member, names: named(modelExecutor), named(modelContainer), named(init))
@attached(extension, conformances: ModelActor)
public macro ModelActor() =
    #externalMacro(module: "SwiftDataMacros", type: "PersistentModelActorMacro")

/// Sets options of an attribute.
@attached(peer)
public macro Attribute(
    _ options: Schema.Attribute.Option..., originalName: String? = nil, hashModifier: String? = nil
) = #externalMacro(module: "SwiftDataMacros", type: "AttributePropertyMacro")

/// Sets options of a relationship.
///
/// - Parameter inverse: The relationship in the opposite direction, as a key path from its model.
///   It is named on one side only. Two relationships that are the only ones between their models
///   are inverses without it; others have none. The first of several that name one inverse has it.
@attached(peer)
public macro Relationship(
    _ options: Schema.Relationship.Option...,
    deleteRule: Schema.Relationship.DeleteRule = .nullify, minimumModelCount: Int? = 0,
    maximumModelCount: Int? = 0, originalName: String? = nil, inverse: AnyKeyPath? = nil,
    hashModifier: String? = nil
) = #externalMacro(module: "SwiftDataMacros", type: "RelationshipPropertyMacro")

/// Marks a property that is not persisted. It needs a default value.
@attached(peer)
public macro Transient() =
    #externalMacro(module: "SwiftDataMacros", type: "TransientPropertyMacro")

/// Requires that no two models have the same values of all properties of a list.
///
///     #Unique<Item>([\.title], [\.group, \.number])
@freestanding(declaration)
public macro Unique<T: PersistentModel>(_ constraints: [PartialKeyPath<T>]...) =
    #externalMacro(module: "SwiftDataMacros", type: "UniqueMacro")

/// Keeps an index of the properties of each list, in their order.
///
///     #Index<Item>([\.made, \.title])
@freestanding(declaration)
public macro Index<T: PersistentModel>(_ indices: [PartialKeyPath<T>]...) =
    #externalMacro(module: "SwiftDataMacros", type: "IndexMacro")

/// Keeps indexes of these kinds.
@freestanding(declaration)
public macro Index<T: PersistentModel>(_ indices: Schema.Index<T>.Types<T>...) =
    #externalMacro(module: "SwiftDataMacros", type: "IndexMacro")

/// The accessors of a persisted property, which ``Model()`` attaches.
///
/// - Parameter slot: The index of the property among those of its class.
@attached(accessor, names: named(init), named(get), named(set), named(_modify))
@attached(peer, names: prefixed(`_`))
public macro _PersistedProperty(_ slot: Int) =
    #externalMacro(module: "SwiftDataMacros", type: "PersistedPropertyMacro")

/// The accessors of a property that the class has under a condition which ``Model()`` cannot
/// evaluate, such as `#if canImport`. Its slot is known at run time.
@attached(accessor, names: named(init), named(get), named(set), named(_modify))
@attached(peer, names: prefixed(`_`), prefixed(`_$slot_`))
public macro _PersistedProperty() =
    #externalMacro(module: "SwiftDataMacros", type: "PersistedPropertyMacro")

/// The accessors of a property that is stored by a transformer, which ``Model()`` attaches.
@attached(accessor, names: named(init), named(get), named(set))
@attached(peer, names: prefixed(`_`))
public macro _TransformablePersistedProperty(_ slot: Int) =
    #externalMacro(module: "SwiftDataMacros", type: "TransformablePersistedPropertyMacro")

/// The accessors of such a property under a condition which ``Model()`` cannot evaluate.
@attached(accessor, names: named(init), named(get), named(set))
@attached(peer, names: prefixed(`_`), prefixed(`_$slot_`))
public macro _TransformablePersistedProperty() =
    #externalMacro(module: "SwiftDataMacros", type: "TransformablePersistedPropertyMacro")

/// The topmost class of a hierarchy of models. The macro ``Model()`` declares the conformance.
public protocol _ModelRoot: AnyObject {
    /// The names of the properties whose default values are the same in every process.
    static var _$constantDefaults: [String] { get }

    /// The key paths of the inherited properties with the class itself as their root, by slot.
    static var _$inheritedKeyPaths: [AnyKeyPath] { get }
}

extension _ModelRoot {
    public static var _$inheritedKeyPaths: [AnyKeyPath] { [] }
}

/// The type of the hidden stored property next to each persisted one. It has one value.
public struct _NoType: Sendable {
    public init() {}
}

/// The hidden stored property next to a persisted one with observers.
public struct _ObserverState: Sendable {
    /// Whether an observer of the property is running.
    public var isRunning = false

    public init() {}
}
