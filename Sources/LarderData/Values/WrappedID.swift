public import Foundation
public import SwiftData

/// The identity of a value, whether it comes from a store or from code that knows no store.
///
/// As text, it is the URI of an identifier, or the kind and the value: `integer:3`, `string:home`.
/// The text can be part of a URL when it is percent-encoded, and it is the form in JSON.
public enum WrappedID: Equatable, Identifiable, Sendable, Hashable {
    case string(String)
    case integer(Int)
    case uuid(UUID)
    case objectID(PersistentIdentifier)

    public var id: WrappedID { self }
}

extension WrappedID: LosslessStringConvertible {
    public var description: String {
        switch self {
        case .string(let string): "string:\(string)"
        case .integer(let integer): "integer:\(integer)"
        case .uuid(let uuid): "uuid:\(uuid.uuidString)"
        case .objectID(let identifier): identifier.uriRepresentation
        }
    }

    /// - Returns: nil if the text is not that of an identity.
    public init?(_ description: String) {
        if let identifier = try? PersistentIdentifier(uriRepresentation: description) {
            self = .objectID(identifier)
            return
        }
        guard let colon = description.firstIndex(of: ":") else { return nil }
        let text = String(description[description.index(after: colon)...])
        switch description[..<colon] {
        case "string": self = .string(text)
        case "integer":
            guard let integer = Int(text) else { return nil }
            self = .integer(integer)
        case "uuid":
            guard let uuid = UUID(uuidString: text) else { return nil }
            self = .uuid(uuid)
        default: return nil
        }
    }
}

extension WrappedID: Codable {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let identity = Self(text) else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "the text is not that of an identity")
        }
        self = identity
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}

/// A value that views show, instead of an object of a store.
public protocol BaseValueProtocol: Equatable, Identifiable, Sendable {
    var id: WrappedID { get }
}
