/// The thirteen types of attributes, named as in the schema file.
public enum AttributeType: String, Sendable, Hashable, CaseIterable {
    case bool, int16, int32, int64, float, double, decimal, string, date, uuid, url, data, json
}

extension AttributeType {
    package var isNumber: Bool {
        isInteger || self == .float || self == .double || self == .decimal
    }

    package var isInteger: Bool { self == .int16 || self == .int32 || self == .int64 }

    /// The type in which functions compute values of this type.
    package var widened: AttributeType {
        switch self {
        case .int16, .int32: .int64
        case .float: .double
        default: self
        }
    }

    /// Whether text in a query can be converted to this type.
    package var isReadFromText: Bool {
        switch self {
        case .date, .uuid, .url, .decimal, .data: true
        default: false
        }
    }

    /// The type in error messages: `an int64`.
    package var nounWithArticle: String {
        switch self {
        case .int16, .int32, .int64: "an \(rawValue)"
        case .data: "data"
        case .json: "a JSON document"
        case .uuid: "a UUID"
        case .url: "a URL"
        case .bool, .float, .double, .decimal, .string, .date: "a \(rawValue)"
        }
    }
}
