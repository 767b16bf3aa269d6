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
    /// A valid value for the column of an object without a valid one, which is never committed; nil
    /// if the column can be NULL. The other rules of the set are then checked too.
    let placeholder: SQLValue?

    /// - Parameter isNeverNull: Whether the column has the constraint NOT NULL.
    /// - Throws: `wrongType` if a bound or the default is not of the attribute's type.
    package init(
        _ attribute: Attribute, of entity: Entity, column: String, isNeverNull: Bool = false
    ) throws(LarderError) {
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
        placeholder = isNeverNull ? minimum ?? maximum ?? Self.zero(of: attribute.type) : nil
    }

    private static func zero(of type: AttributeType) -> SQLValue {
        switch type {
        case .bool, .int16, .int32, .int64: .integer(0)
        case .float, .double, .date: .real(0)
        case .decimal: .text("0")
        case .string, .url: .text("")
        case .json: .text("null")
        case .uuid: .blob([UInt8](repeating: 0, count: 16))
        case .data: .blob([])
        }
    }
}
