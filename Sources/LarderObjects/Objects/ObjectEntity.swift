public import LarderModel

/// An entity with the order of its properties in the cells of objects.
///
/// A slot is the index of a property: those of the topmost ancestor come first, each level in the
/// order in which its type declares them.
public final class ObjectEntity: Sendable {
    public let entity: Entity
    public let properties: [ObjectProperty]
    private let slots: [String: Int]

    /// - Parameter names: All properties in the order of the slots.
    public init(_ entity: Entity, names: [String]) {
        self.entity = entity
        var properties: [ObjectProperty] = []
        for name in names {
            guard let property = entity.property(named: name) else { continue }
            properties.append(ObjectProperty(slot: properties.count, property))
        }
        self.properties = properties
        slots = Dictionary(uniqueKeysWithValues: properties.map { ($0.name, $0.slot) })
    }

    public var name: String { entity.name }

    public func slot(named name: String) -> Int? { slots[name] }
}

/// A property with its slot.
public struct ObjectProperty: Sendable {
    public enum Kind: Hashable, Sendable {
        case attribute
        case toOne
        case toMany
    }

    public let slot: Int
    public let name: String
    public let kind: Kind
    /// The relationship; nil for an attribute.
    public let relationship: Relationship?

    init(slot: Int, _ property: Property) {
        self.slot = slot
        switch property {
        case .attribute(let attribute):
            name = attribute.name
            kind = .attribute
            relationship = nil
        case .relationship(let relationship):
            name = relationship.name
            kind = relationship.isToMany ? .toMany : .toOne
            self.relationship = relationship
        }
    }
}
