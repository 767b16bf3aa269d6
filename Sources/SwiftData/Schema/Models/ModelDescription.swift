internal import Foundation
internal import LarderModel
internal import Synchronization

/// The description of a model type for the object layer, made once per type.
package final class ModelDescription: Sendable {
    package let type: any PersistentModel.Type
    package let entityName: String
    /// The name of the entity in stores.
    package let storeName: String
    package let superclass: ModelDescription?
    /// All properties by slot: those of the topmost class first, each class's in their order.
    package let properties: [ModelProperty]
    /// The slot of the first property of the class itself.
    package let firstOwnSlot: Int
    /// The lists of the class itself, without those of attributes marked as unique.
    package let uniquenessConstraints: [[String]]
    package let indexes: [[String]]
    /// Key paths in constraints that are not those of persisted properties.
    let problems: [String]

    private let slotsByName: [String: Int]
    private let keyPaths: KeyPathSlots

    /// The properties that the class itself declares.
    package var ownProperties: ArraySlice<ModelProperty> { properties[firstOwnSlot...] }

    /// The values that models have at first of properties that the store does not have, by the
    /// names in the store.
    var ephemeralValues: [String: LarderModel.Value] {
        let ephemeral = properties.filter(\.isEphemeral)
        return Dictionary(
            ephemeral.map { ($0.storeName, $0.defaultValue ?? .null) },
            uniquingKeysWith: { first, _ in first })
    }

    package func property(named name: String) -> ModelProperty? {
        slotsByName[name].map { properties[$0] }
    }

    package func property(of keyPath: AnyKeyPath) -> ModelProperty? {
        slot(of: keyPath).map { properties[$0] }
    }

    /// The key path of a property with this class as its root, also of an inherited one.
    func rootedKeyPath(at slot: Int) -> AnyKeyPath { keyPaths.rooted[slot] }

    /// The slot of a property; nil if the key path is not one of a persisted property.
    ///
    /// A key path may have this class as its root, or one of its superclasses. An inherited
    /// property's key path may have this class as its root.
    package func slot(of keyPath: AnyKeyPath) -> Int? {
        keyPaths.slot(of: keyPath) ?? superclass?.slot(of: keyPath)
    }

    /// The slot of the property with which the text of a key path begins, and the length of its
    /// part of the text; nil if it is none, or may be several.
    func firstSlot(of components: Substring) -> (slot: Int, length: Int)? {
        keyPaths.firstSlot(of: components) ?? superclass?.firstSlot(of: components)
    }

    /// The description of a model type.
    package static func of(_ type: any PersistentModel.Type) -> ModelDescription {
        ModelDescriptions.shared.description(of: type)
    }

    /// The name of the class without the types that contain it.
    package static func entityName(of type: any PersistentModel.Type) -> String {
        String(describing: type)
    }

    fileprivate init(_ type: any PersistentModel.Type) {
        self.type = type
        entityName = Self.entityName(of: type)
        storeName = StoreName.of(entityName)
        let superclass = (_getSuperclass(type as AnyClass) as? any PersistentModel.Type).map(
            Self.of)
        self.superclass = superclass
        let inherited = superclass?.properties ?? []
        firstOwnSlot = inherited.count
        let root = type as? any _ModelRoot.Type
        let constants = Set(root?._$constantDefaults ?? [])
        var properties = inherited
        var unique: [DeclaredConstraint] = []
        var indexes: [DeclaredConstraint] = []
        for metadata in type.schemaMetadata {
            if let constraint = DeclaredConstraint(metadata) {
                if constraint.property.isUnique {
                    unique.append(constraint)
                } else {
                    indexes.append(constraint)
                }
            } else {
                properties.append(
                    ModelProperty(
                        metadata, slot: properties.count,
                        isConstant: constants.contains(metadata.name)))
            }
        }
        self.properties = properties
        slotsByName = Dictionary(
            properties.map { ($0.name, $0.slot) }, uniquingKeysWith: { _, last in last })
        let keyPaths = KeyPathSlots(properties, inherited: root?._$inheritedKeyPaths ?? [])
        self.keyPaths = keyPaths
        var problems: [String] = []
        let name = entityName
        func names(_ constraints: [DeclaredConstraint], of macro: String) -> [[String]] {
            constraints.flatMap { constraint in
                constraint.lists { keyPath in
                    let slot = keyPaths.slot(of: keyPath) ?? superclass?.slot(of: keyPath)
                    return slot.map { properties[$0].name }
                } unknown: { property in
                    problems.append("\(name): #\(macro) names \(property), which is not persisted")
                }
            }
        }
        uniquenessConstraints = names(unique, of: "Unique")
        self.indexes = names(indexes, of: "Index")
        self.problems = problems
    }
}

/// The lists of properties of one `#Unique` or `#Index`.
private struct DeclaredConstraint {
    let property: any ConstraintProperty
    /// The properties as they are written, if the macro has left them to be checked: a key path
    /// does not have the name of a property that is not persisted.
    private let writtenNames: [String]

    init?(_ metadata: Schema.PropertyMetadata) {
        guard let property = metadata.metadata as? any ConstraintProperty else { return nil }
        self.property = property
        writtenNames = metadata.defaultValue as? [String] ?? []
    }

    /// The names of the properties, and a call for each key path that has none.
    func lists(
        _ name: (AnyKeyPath) -> String?, unknown: (String) -> Void
    ) -> [[String]] {
        var writtenNames = writtenNames[...]
        return property.keyPathLists.filter { !$0.isEmpty }.map { list in
            list.compactMap { keyPath in
                let writtenName = writtenNames.popFirst()
                if let found = name(keyPath) { return found }
                unknown(writtenName.map { "`\($0)`" } ?? "\(keyPath)")
                return nil
            }
        }
    }
}

/// The number of persisted properties of a model, inherited ones included.
public func _slotCount(of type: any PersistentModel.Type) -> Int {
    ModelDescription.of(type).properties.count
}

/// The slot of a property that a class has under a condition.
public func _slot(of name: String, in type: any PersistentModel.Type) -> Int {
    guard let property = ModelDescription.of(type).property(named: name) else {
        preconditionFailure("\(type) has no property \(name), although it declares one")
    }
    return property.slot
}

/// The descriptions that were made.
///
/// A description is made by one thread at a time. The lock is recursive, because default values are
/// evaluated, and those may make other models.
private final class ModelDescriptions: Sendable {
    static let shared = ModelDescriptions()

    private let descriptions = Mutex<[ObjectIdentifier: ModelDescription]>([:])
    private let making = NSRecursiveLock()

    func description(of type: any PersistentModel.Type) -> ModelDescription {
        let key = ObjectIdentifier(type)
        if let made = descriptions.withLock({ $0[key] }) { return made }
        making.lock()
        defer { making.unlock() }
        if let made = descriptions.withLock({ $0[key] }) { return made }
        let description = ModelDescription(type)
        return descriptions.withLock { descriptions in
            // A default value may have asked for the same type.
            if let made = descriptions[key] { return made }
            descriptions[key] = description
            return description
        }
    }
}

/// The slots of key paths. A key path of a property captures no values, so it is immutable.
private struct KeyPathSlots: @unchecked Sendable {
    private let slots: [AnyKeyPath: Int]
    /// By slot, with the class as their root.
    let rooted: [AnyKeyPath]

    /// - Parameter inherited: The key paths of inherited properties with the subclass as their
    ///   root, by slot. Those of the properties themselves have the superclass.
    init(_ properties: [ModelProperty], inherited: [AnyKeyPath]) {
        let all = properties.map { ($0.keyPath, $0.slot) } + inherited.enumerated().map { ($1, $0) }
        slots = Dictionary(all, uniquingKeysWith: { first, _ in first })
        rooted = inherited + properties.dropFirst(inherited.count).map(\.keyPath)
    }

    func slot(of keyPath: AnyKeyPath) -> Int? { slots[keyPath] }

    func firstSlot(of components: Substring) -> (slot: Int, length: Int)? {
        let found = slots.compactMap { keyPath, slot -> (slot: Int, length: Int)? in
            guard let own = KeyPathText.components(of: keyPath), components.hasPrefix(own) else {
                return nil
            }
            let next = components.dropFirst(own.count).first
            return next.map { ".?!".contains($0) } == false ? nil : (slot, own.count)
        }
        guard let first = found.first else { return nil }
        return found.allSatisfy { $0 == first } ? first : nil
    }
}
