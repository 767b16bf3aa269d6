public import FoundationEssentials

/// The value of a property: nil, one of the thirteen attribute types, or the objects of a
/// relationship.
///
/// The three integer types share ``int(_:)``; the schema determines the range. NaN cannot be
/// stored.
public enum Value: Hashable, Sendable {
    case null
    case bool(Bool)
    case int(Int64)
    case float(Float)
    case double(Double)
    case decimal(Decimal)
    case string(String)
    case date(Date)
    case uuid(UUID)
    case url(URL)
    case data(Data)
    /// A well-formed JSON document as text.
    case json(String)
    /// The object of a to-one relationship.
    indirect case object(PersistentIdentifier)
    /// The objects of a to-many relationship, in order if it is ordered.
    case objects([PersistentIdentifier])

    public var isNull: Bool { if case .null = self { true } else { false } }

    /// The kind of the value in error messages, without its content: `a string`.
    package var kindWithArticle: String {
        switch self {
        case .null: "nil"
        case .bool: "a bool"
        case .int: "an integer"
        case .float: "a float"
        case .double: "a double"
        case .decimal: "a decimal"
        case .string: "a string"
        case .date: "a date"
        case .uuid: "a UUID"
        case .url: "a URL"
        case .data: "data"
        case .json: "a JSON document"
        case .object: "an object"
        case .objects: "a list of objects"
        }
    }
}

extension Value: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByStringLiteral
{
    public init(nilLiteral: ()) { self = .null }
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    public init(integerLiteral value: Int64) { self = .int(value) }
    public init(floatLiteral value: Double) { self = .double(value) }
    public init(stringLiteral value: String) { self = .string(value) }
}
