// swift-format-ignore-file: AlwaysUseLowerCamelCase
// The names are those of Core Data.

internal import LarderModel

/// The type of an attribute.
public enum NSAttributeType: UInt, Sendable {
    case undefinedAttributeType = 0
    case integer16AttributeType = 100
    case integer32AttributeType = 200
    case integer64AttributeType = 300
    case decimalAttributeType = 400
    case doubleAttributeType = 500
    case floatAttributeType = 600
    case stringAttributeType = 700
    case booleanAttributeType = 800
    case dateAttributeType = 900
    case binaryDataAttributeType = 1_000
    case UUIDAttributeType = 1_100
    case URIAttributeType = 1_200
    /// Dictionaries, arrays and values that JSON has. They are stored as a JSON document.
    case transformableAttributeType = 1_800
    /// The identifier of an object, as the result of an expression.
    case objectIDAttributeType = 2_000

    var storeType: AttributeType? {
        switch self {
        case .undefinedAttributeType, .objectIDAttributeType: nil
        case .integer16AttributeType: .int16
        case .integer32AttributeType: .int32
        case .integer64AttributeType: .int64
        case .decimalAttributeType: .decimal
        case .doubleAttributeType: .double
        case .floatAttributeType: .float
        case .stringAttributeType: .string
        case .booleanAttributeType: .bool
        case .dateAttributeType: .date
        case .binaryDataAttributeType: .data
        case .UUIDAttributeType: .uuid
        case .URIAttributeType: .url
        case .transformableAttributeType: .json
        }
    }

    init(_ type: AttributeType) {
        self =
            switch type {
            case .bool: .booleanAttributeType
            case .int16: .integer16AttributeType
            case .int32: .integer32AttributeType
            case .int64: .integer64AttributeType
            case .float: .floatAttributeType
            case .double: .doubleAttributeType
            case .decimal: .decimalAttributeType
            case .string: .stringAttributeType
            case .date: .dateAttributeType
            case .uuid: .UUIDAttributeType
            case .url: .URIAttributeType
            case .data: .binaryDataAttributeType
            case .json: .transformableAttributeType
            }
    }
}
