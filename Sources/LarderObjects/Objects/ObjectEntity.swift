public import LarderModel

/// An entity with the order of its properties in the cells of objects.
///
/// A slot is the index of a property: those of the topmost ancestor come first, each level in the
/// order in which its type declares them.
public final class ObjectEntity: Sendable {
    public let entity: Entity
    public let properties: [ObjectProperty]
    /// The properties that are relationships.
    let relationships: [ObjectProperty]
    /// The values of a new object by slot, before anyone sets one.
    let newCells: [Value?]
    /// The calls of a context to the model class of the entity.
    public let ownerClass: OwnerClass
    /// The values of a new object that a save sends, nil for each: its attributes and to-one
    /// relationships. A copy has the same indices, so that names are not hashed for each object.
    let savedValues: [String: Value]
    let savedSlots: [(slot: Int, index: [String: Value].Index)]
    private let slots: [String: Int]

    /// - Parameters:
    ///   - names: All properties in the order of the slots.
    ///   - ephemeral: The values that objects have at first of properties that are not stored.
    public init(
        _ entity: Entity, names: [String], ephemeral: [String: Value] = [:],
        _ ownerClass: OwnerClass
    ) {
        self.entity = entity
        self.ownerClass = ownerClass
        var properties: [ObjectProperty] = []
        for name in names {
            if let property = entity.property(named: name) {
                properties.append(ObjectProperty(slot: properties.count, property))
            } else if let value = ephemeral[name] {
                properties.append(
                    ObjectProperty(slot: properties.count, ephemeral: name, value))
            }
        }
        self.properties = properties
        relationships = properties.filter { $0.kind != .attribute }
        newCells = properties.map { property in
            // `nil` alone would be the value nil.
            if let value = property.ephemeralValue { return value }
            switch property.kind {
            case .attribute: return property.isNilAtFirst ? .null : Value?.none
            case .toOne: return .null
            case .toMany: return .objects([])
            }
        }
        let saved = properties.filter { $0.kind != .toMany && $0.isSaved }
        let savedValues = Dictionary(uniqueKeysWithValues: saved.map { ($0.name, Value.null) })
        self.savedValues = savedValues
        savedSlots = saved.compactMap { property in
            savedValues.index(forKey: property.name).map { (property.slot, $0) }
        }
        slots = Dictionary(uniqueKeysWithValues: properties.map { ($0.name, $0.slot) })
    }

    public var name: String { entity.name }

    public func slot(named name: String) -> Int? { slots[name] }
}

/// The model class of an entity, as far as a context needs it.
public struct OwnerClass: Sendable {
    /// Makes the instance for an object of the context.
    public let make: @Sendable (StoredObject) -> any ObjectOwner
    /// Tells observers of an instance that a property has changed by other means than its setter.
    public let notify: @Sendable (any ObjectOwner, _ slot: Int) -> Void
    /// Whether an instance is one of the class, and not of another one with the entity's name.
    public let isClass: @Sendable (any ObjectOwner) -> Bool

    public init(
        make: @escaping @Sendable (StoredObject) -> any ObjectOwner,
        notify: @escaping @Sendable (any ObjectOwner, Int) -> Void,
        isClass: @escaping @Sendable (any ObjectOwner) -> Bool = { _ in true }
    ) {
        self.make = make
        self.notify = notify
        self.isClass = isClass
    }
}

/// A property with its slot.
public final class ObjectProperty: Sendable {
    public enum Kind: Hashable, Sendable {
        case attribute
        case toOne
        case toMany
    }

    public let slot: Int
    public let name: String
    public let kind: Kind
    /// Whether the store computes the values.
    let isDerived: Bool
    /// The value that an object has at first of an attribute that the store does not have; nil for
    /// a stored property.
    let ephemeralValue: Value?
    /// Whether it is an attribute of which a new object has nil unless a value is set.
    let isNilAtFirst: Bool
    /// The relationship; nil for an attribute.
    public let relationship: Relationship?

    /// Whether saves send its values to the store.
    var isSaved: Bool { !isDerived && ephemeralValue == nil }

    init(slot: Int, ephemeral name: String, _ value: Value) {
        self.slot = slot
        self.name = name
        kind = .attribute
        isDerived = false
        isNilAtFirst = false
        relationship = nil
        ephemeralValue = value
    }

    init(slot: Int, _ property: Property) {
        self.slot = slot
        ephemeralValue = nil
        switch property {
        case .attribute(let attribute):
            name = attribute.name
            kind = .attribute
            isDerived = attribute.isDerived
            isNilAtFirst =
                attribute.isOptional && !attribute.isDerived && attribute.defaultValue == nil
            relationship = nil
        case .relationship(let relationship):
            name = relationship.name
            kind = relationship.isToMany ? .toMany : .toOne
            isDerived = false
            isNilAtFirst = false
            self.relationship = relationship
        }
    }
}
