import LarderModel

/// An attribute with its column, and its bounds and default in stored form.
package final class StoredAttribute: Sendable {
    package let attribute: Attribute
    package let column: String
    package let entityName: String
    /// For example `Article.title`.
    package let qualifiedName: String
    package let minimum: SQLValue?
    package let maximum: SQLValue?
    package let defaultValue: SQLValue?

    /// - Throws: `wrongType` if a bound or the default is not of the attribute's type.
    package init(_ attribute: Attribute, of entity: Entity, column: String) throws(LarderError) {
        self.attribute = attribute
        self.column = column
        let name = "\(entity.name).\(attribute.name)"
        entityName = entity.name
        qualifiedName = name
        func stored(_ value: Value?) throws(LarderError) -> SQLValue? {
            guard let value else { return nil }
            return try SQLValue(storing: value, as: attribute.type, named: name)
        }
        minimum = try stored(attribute.validation.minimum)
        maximum = try stored(attribute.validation.maximum)
        defaultValue = try stored(attribute.defaultValue)
    }
}
