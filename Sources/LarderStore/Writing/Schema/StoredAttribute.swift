import LarderModel
import LarderSQL

/// An attribute with its column, and its bounds and default in stored form.
final class StoredAttribute: Sendable {
    let attribute: Attribute
    let column: String
    let entityName: String
    /// For example `Article.title`.
    let qualifiedName: String
    let minimum: SQLValue?
    let maximum: SQLValue?
    let defaultValue: SQLValue?

    /// - Throws: `wrongType` if a bound or the default is not of the attribute's type.
    init(_ attribute: Attribute, of entity: Entity, column: String) throws(LarderError) {
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
