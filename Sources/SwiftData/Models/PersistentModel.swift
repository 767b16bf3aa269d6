public import LarderClient
public import LarderModel
public import LarderObjects
public import Observation

/// A class whose instances are objects of a store. The macro `@Model` makes a class one.
///
/// Instances belong to the thread or the actor of their context. No access of a property ends the
/// process: an instance whose object was deleted keeps its last values.
public protocol PersistentModel: ObjectOwner, Observable, Hashable, Identifiable, QueryableEntity,
    SendableMetatype
{
    /// The topmost model class of a class hierarchy.
    associatedtype Root: PersistentModel = Self

    init(backingData: any BackingData<Self>)

    var persistentBackingData: any BackingData<Self> { get set }

    /// The properties that the class itself declares, for the schema.
    static var schemaMetadata: [Schema.PropertyMetadata] { get }

    // The members that the macro writes for this module.
    /// The instance for an object of a context.
    init(_$object: StoredObject)
    var _$context: ModelContext? { get set }
    /// The lists that the instance keeps.
    var _$lists: _ModelLists? { get set }
    func _$notify(slot: Int)
}

extension PersistentModel {
    /// The context of the model; nil before it is inserted and after its deletion is saved.
    public var modelContext: ModelContext? {
        switch _$object.status {
        case .inserted, .saved, .deleted: _$context
        case .unmanaged, .gone: nil
        }
    }

    /// The identifier of the model. It is temporary until the model is saved.
    public var persistentModelID: PersistentIdentifier {
        _$object.identifier(entityName: _$entityName)
    }

    public var id: PersistentIdentifier { persistentModelID }

    /// Whether the model has changes that are not saved.
    public var hasChanges: Bool { _$object.hasChanges }

    /// Whether the model was deleted: by its context, or by anyone else as far as the context has
    /// been told.
    public var isDeleted: Bool {
        switch _$object.status {
        case .deleted, .gone: true
        case .unmanaged, .inserted, .saved: false
        }
    }

    public static func == (left: Self, right: Self) -> Bool {
        left === right || left.persistentModelID == right.persistentModelID
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(persistentModelID) }

    /// The registrar of the model's properties, for accessors that a program writes.
    public var _$observationRegistrar: ObservationRegistrar {
        if _$object.owner == nil { _$object.owner = self }
        return _$object.makeObservers().registrar
    }

    public static func createBackingData<P: PersistentModel>() -> some BackingData<P> {
        StoredBackingData<P>(StoredObject())
    }

    // MARK: - For the macro

    public init(_$object object: StoredObject) {
        self.init(backingData: StoredBackingData<Self>(object))
        _$object = object
    }

    public var _$entityName: String { type(of: self).entityName }

    public func _$join(_ contextOwner: AnyObject) {
        if let context = contextOwner as? ModelContext { _$context = context }
        // Instances that were kept without a context are not up to date in one.
        if _$lists != nil { _$lists = nil }
    }

    public var _$lists: _ModelLists? {
        get { nil }
        set {}
    }

    /// A class without a superclass that is a model has one level of values.
    public func _$unite() {}

    // MARK: - QueryableEntity

    /// The name of the entity: that of the type, without the types around it.
    public static var entityName: String {
        ModelDescription.of(Self.self).storeName
    }

    public static func property(at keyPath: AnyKeyPath) -> EntityProperty? {
        if let property = ModelDescription.of(Self.self).property(of: keyPath) {
            return .named(property.storeName)
        }
        if RequirementProbe.isIdentifier(keyPath, of: Self.self) { return .identifier }
        return RequirementProbe.property(keyPath, of: Self.self).map { .named($0.storeName) }
    }

    /// The members of a structure that is stored as a JSON document.
    public static func members(at keyPath: AnyKeyPath) -> [String]? {
        JSONMembers.path(of: keyPath)
    }

    /// The JSON document of a captured structure or collection.
    public static func storedValue(of captured: Any) -> LarderModel.Value? {
        let coding = AttributeCoding.coding(of: type(of: captured))
        return coding.form == .json ? try? coding.encode(captured) : nil
    }
}

/// A list of models as the type of a relationship: an array, or an optional one.
public protocol RelationshipCollection {
    associatedtype PersistentElement: PersistentModel

    static func _collection(of models: [PersistentElement]) -> Self
    var _models: [PersistentElement] { get }
}

extension Array: RelationshipCollection where Element: PersistentModel {
    public typealias PersistentElement = Element

    public static func _collection(of models: [Element]) -> [Element] { models }
    public var _models: [Element] { self }
}

extension Optional: RelationshipCollection
where Wrapped: Sequence, Wrapped.Element: PersistentModel {
    public typealias PersistentElement = Wrapped.Element

    public static func _collection(of models: [Wrapped.Element]) -> Wrapped? {
        models as? Wrapped
    }

    public var _models: [Wrapped.Element] { self.map { Array($0) } ?? [] }
}
