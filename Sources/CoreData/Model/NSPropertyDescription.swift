public import Foundation
internal import LarderModel

@_exported public import class CoreDataPredicates.NSPredicate

/// A property of an entity.
///
/// Sendable unchecked: as its entity.
open class NSPropertyDescription: NSObject, @unchecked Sendable {
    open var name = ""
    open var isOptional = true
    /// Whether the values are not stored. Only attributes may be so.
    open var isTransient = false
    open var userInfo: [AnyHashable: Any]?
    /// The name in an earlier version of the model, if the property was renamed.
    open var renamingIdentifier: String?
    /// A text that marks the meaning of the values as changed although their type is not.
    open var versionHashModifier: String?
    open internal(set) weak var entity: NSEntityDescription?

    /// The conditions of ``setValidationPredicates(_:withValidationWarnings:)``.
    private(set) var ownPredicates: [NSPredicate] = []
    private(set) var ownWarnings: [Any] = []

    public override init() {}

    /// The conditions for values: those of the model file, and those that were set.
    open var validationPredicates: [NSPredicate] { filePredicates + ownPredicates }

    /// The codes and texts of errors, by the index of the condition; an empty text if the error
    /// says what the condition is.
    open var validationWarnings: [Any] { filePredicates.map { _ in "" } + ownWarnings }

    /// The conditions of the model file, which the store has too.
    var filePredicates: [NSPredicate] { [] }

    /// Sets conditions for values that are not nil, which a context checks when it saves. `SELF` is
    /// the value.
    ///
    /// - Parameter validationWarnings: The code, a number, or the text of the error of each
    ///   condition; of those that are missing, the text is that of the condition.
    open func setValidationPredicates(
        _ validationPredicates: [NSPredicate]?, withValidationWarnings validationWarnings: [Any]?
    ) {
        ownPredicates = validationPredicates ?? []
        let given = validationWarnings ?? []
        ownWarnings = ownPredicates.indices.map { given.indices.contains($0) ? given[$0] : "" }
    }

    open override var description: String { "property \(name)" }
}

/// The effect of deleting an object on its related objects.
public enum NSDeleteRule: UInt, Sendable {
    case noActionDeleteRule = 0
    case nullifyDeleteRule = 1
    case cascadeDeleteRule = 2
    case denyDeleteRule = 3
}

/// A relationship to one object, or to many.
open class NSRelationshipDescription: NSPropertyDescription, @unchecked Sendable {
    open weak var destinationEntity: NSEntityDescription?
    /// The relationship of the destination in the opposite direction. Set it on both sides.
    open weak var inverseRelationship: NSRelationshipDescription?
    open var deleteRule = NSDeleteRule.nullifyDeleteRule
    open var minCount = 0
    /// The largest number of objects: 1 for a relationship to one, 0 for any number.
    open var maxCount = 1
    open var isOrdered = false

    open var isToMany: Bool { maxCount != 1 }

    public override init() {}

    convenience init(_ relationship: Relationship) {
        self.init()
        name = relationship.name
        isOptional = relationship.isOptional
        isOrdered = relationship.isOrdered
        minCount = relationship.minCount
        maxCount = relationship.isToMany ? relationship.maxCount : 1
        renamingIdentifier = relationship.originalName
        versionHashModifier = relationship.hashModifier
        deleteRule =
            switch relationship.deleteRule {
            case .noAction: .noActionDeleteRule
            case .nullify: .nullifyDeleteRule
            case .cascade: .cascadeDeleteRule
            case .deny: .denyDeleteRule
            }
    }

    /// - Throws: `malformedSchema` for a relationship that no store has.
    func storeRelationship(of entityName: String) throws(LarderError) -> Relationship {
        guard let destination = destinationEntity?.name else {
            throw NSEntityDescription.malformed(
                "\(entityName).\(name) has no destination",
                hint: "set destinationEntity, and keep the entity in the model")
        }
        if isTransient {
            throw NSEntityDescription.malformed(
                "\(entityName).\(name) is a transient relationship, which is not supported")
        }
        let rule: Relationship.DeleteRule =
            switch deleteRule {
            case .noActionDeleteRule: .noAction
            case .nullifyDeleteRule: .nullify
            case .cascadeDeleteRule: .cascade
            case .denyDeleteRule: .deny
            }
        return Relationship(
            name: name, destination: destination, isToMany: isToMany, isOrdered: isOrdered,
            isOptional: isOptional, inverse: inverseRelationship?.name, deleteRule: rule,
            minCount: isToMany ? minCount : 0, maxCount: isToMany ? maxCount : 0,
            originalName: renamingIdentifier, hashModifier: versionHashModifier)
    }
}

/// An index of the values of properties.
open class NSFetchIndexDescription: NSObject, @unchecked Sendable {
    // Sendable unchecked: as the entity of the index.

    open var name: String
    open var elements: [NSFetchIndexElementDescription]

    public init(name: String, elements: [NSFetchIndexElementDescription]?) {
        self.name = name
        self.elements = elements ?? []
    }
}

/// The kind of an index.
public enum NSFetchIndexElementType: UInt, Sendable {
    case binary = 0
}

/// A property of an index.
open class NSFetchIndexElementDescription: NSObject, @unchecked Sendable {
    // Sendable unchecked: as the entity of the index.

    open private(set) weak var property: NSPropertyDescription?
    open var collationType: NSFetchIndexElementType

    public init(property: NSPropertyDescription, collationType: NSFetchIndexElementType) {
        self.property = property
        self.collationType = collationType
    }
}
