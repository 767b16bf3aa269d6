public import LarderModel

/// An entity with the order of its properties in the cells of objects.
///
/// A slot is the index of a property: those of the topmost ancestor come first, each level in the
/// order in which its type declares them.
public final class ObjectEntity: Sendable {
    public let entity: Entity
    public let properties: [ObjectProperty]
    /// Those of the properties that are relationships.
    let relationships: [ObjectProperty]
    /// What a new object has by slot before anyone sets it.
    let newCells: [Value?]
    /// What the model class of the entity does for a context.
    public let ownerClass: OwnerClass
    /// What a save sends of a new object, with nil for each value: its attributes and to-one
    /// relationships. A copy has the same indices, so that names are not hashed for each object.
    let savedValues: [String: Value]
    let savedSlots: [(slot: Int, index: [String: Value].Index)]
    private let slots: [String: Int]

    /// - Parameter names: All properties in the order of the slots.
    public init(_ entity: Entity, names: [String], _ ownerClass: OwnerClass) {
        self.entity = entity
        self.ownerClass = ownerClass
        var properties: [ObjectProperty] = []
        for name in names {
            guard let property = entity.property(named: name) else { continue }
            properties.append(ObjectProperty(slot: properties.count, property))
        }
        self.properties = properties
        relationships = properties.filter { $0.kind != .attribute }
        newCells = properties.map { property in
            switch property.kind {
            case .attribute: property.isNilAtFirst ? .null : nil
            case .toOne: .null
            case .toMany: .objects([])
            }
        }
        let saved = properties.filter { $0.kind != .toMany && !$0.isDerived }
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

    public init(
        make: @escaping @Sendable (StoredObject) -> any ObjectOwner,
        notify: @escaping @Sendable (any ObjectOwner, Int) -> Void
    ) {
        self.make = make
        self.notify = notify
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
    /// Whether it is an attribute of which a new object has nil unless a value is set.
    let isNilAtFirst: Bool
    /// The relationship; nil for an attribute.
    public let relationship: Relationship?

    init(slot: Int, _ property: Property) {
        self.slot = slot
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
