import LarderModel

/// The type of one side of a comparison, as far as the schema determines it.
package enum OperandType: Hashable, Sendable {
    case attribute(AttributeType)
    /// An object of this entity.
    case object(entityName: String)

    package static let int64 = OperandType.attribute(.int64)

    /// The natural type of a value; nil for nil and for lists of objects.
    package init?(of value: Value) {
        if case .object(let identifier) = value {
            self = .object(entityName: identifier.entityName)
        } else if let type = value.attributeType {
            self = .attribute(type)
        } else {
            return nil
        }
    }

    package var isString: Bool { self == .attribute(.string) }

    package var isNumber: Bool { attribute?.isNumber ?? false }

    package var isInteger: Bool { attribute?.isInteger ?? false }

    /// Whether values of this type are ordered and can be compared with `<`.
    package var isOrderable: Bool {
        switch attribute {
        case .int16, .int32, .int64, .float, .double, .decimal, .string, .date, .uuid, .json: true
        case .bool, .url, .data, nil: false
        }
    }

    /// Whether values of the two types can be compared: values of the same type, numbers, and
    /// objects of related entities. A decimal cannot be compared with a float or double, since no
    /// exact common type exists.
    package func isComparable(with other: OperandType, in schema: Schema) -> Bool {
        if self == other { return true }
        if case (.object(let name), .object(let otherName)) = (self, other) {
            return schema.areRelated(name, otherName)
        }
        guard isNumber, other.isNumber else { return false }
        return isInteger || other.isInteger || (isBinary && other.isBinary)
    }

    /// The type in error messages: `an int64`.
    package var nounWithArticle: String {
        switch self {
        case .attribute(let type): type.nounWithArticle
        case .object(let entityName): "an object of \(entityName)"
        }
    }

    private var isBinary: Bool { self == .attribute(.float) || self == .attribute(.double) }

    private var attribute: AttributeType? {
        if case .attribute(let type) = self { type } else { nil }
    }
}

extension Value {
    /// The natural type of a value; nil for nil and for objects.
    package var attributeType: AttributeType? {
        switch self {
        case .null, .object, .objects: nil
        case .bool: .bool
        case .int: .int64
        case .float, .double: .double
        case .decimal: .decimal
        case .string: .string
        case .date: .date
        case .uuid: .uuid
        case .url: .url
        case .data: .data
        case .json: .json
        }
    }
}
