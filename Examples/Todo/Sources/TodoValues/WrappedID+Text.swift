import Foundation
public import LarderData

extension WrappedID {
    /// The identity as text, for links between pages.
    public var text: String {
        switch self {
        case .string(let string): "string:" + string
        case .integer(let integer): "integer:\(integer)"
        case .uuid(let uuid): "uuid:" + uuid.uuidString
        case .objectID(let identifier): identifier.uriRepresentation
        }
    }

    /// - Returns: nil if the text is not that of an identity.
    public init?(text: String) {
        if let identifier = try? PersistentIdentifier(uriRepresentation: text) {
            self = .objectID(identifier)
            return
        }
        let parts = text.split(separator: ":", maxSplits: 1).map(String.init)
        guard parts.count == 2 else { return nil }
        switch parts[0] {
        case "string": self = .string(parts[1])
        case "integer":
            guard let integer = Int(parts[1]) else { return nil }
            self = .integer(integer)
        case "uuid":
            guard let uuid = UUID(uuidString: parts[1]) else { return nil }
            self = .uuid(uuid)
        default: return nil
        }
    }
}
