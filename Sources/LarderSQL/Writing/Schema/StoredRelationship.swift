import LarderModel

/// A relationship, with the statements that read and change its links.
package final class StoredRelationship: Sendable {
    package enum Storage: Sendable {
        /// A to-one whose key is in the object's own row.
        case own(KeyColumn)
        /// The destinations' rows have the key. `holder` is the inverse, whose storage is `own`.
        case inverse(holder: Int)
        case join(JoinTable)
    }

    /// Its index in ``WritingSchema/relationships``.
    package let number: Int
    let entityNumber: Int
    package let destinationNumber: Int
    /// The index of the inverse relationship, which may be the relationship itself.
    package let inverseNumber: Int?
    let entityName: String
    package let relationship: Relationship
    /// For example `Article.category`.
    package let qualifiedName: String
    let isOneToOne: Bool
    package let storage: Storage

    var isOwnInverse: Bool { inverseNumber == number }
    package let isRequired: Bool
    /// Whether the number of its objects has a minimum or maximum.
    package let hasCountBounds: Bool

    init(
        number: Int, entityNumber: Int, destinationNumber: Int, inverseNumber: Int?,
        entityName: String, relationship: Relationship, isOneToOne: Bool, storage: Storage
    ) {
        self.number = number
        self.entityNumber = entityNumber
        self.destinationNumber = destinationNumber
        self.inverseNumber = inverseNumber
        self.entityName = entityName
        self.relationship = relationship
        qualifiedName = "\(entityName).\(relationship.name)"
        self.isOneToOne = isOneToOne
        self.storage = storage
        isRequired = !relationship.isToMany && !relationship.isOptional
        hasCountBounds =
            relationship.isToMany
            && (!relationship.isOptional || relationship.minCount > 0 || relationship.maxCount > 0)
    }

    /// An error of this relationship.
    package func violation(
        _ code: ErrorCode, _ message: String, _ rule: ChangeViolation.Rule, uri: String? = nil
    ) -> ChangeViolation {
        ChangeViolation(
            code, message, entityName: entityName, propertyNames: [relationship.name], uri: uri,
            rule: rule)
    }
}
