import LarderModel

/// A member of a json attribute: its path, and the type as which it is read.
struct PlanMember: Hashable, Sendable {
    /// The type as which a member is read. A member of another type is nil.
    enum Kind: Hashable, Sendable {
        /// Its JSON text.
        case text
        /// A number: an integer if it is one.
        case number
        case attribute(AttributeType)
        /// The type of a value of the query, which the parameters determine.
        case like(PlanValue)
    }

    var document: PlanColumn
    var path: [String]
    var kind = Kind.text

    var name: String { "\(document.name).\(path.joined(separator: "."))" }

    /// Nil if a value determines it.
    var type: OperandType? {
        switch kind {
        case .text: .attribute(.json)
        case .number: .attribute(.double)
        case .attribute(let type): .attribute(type)
        case .like: nil
        }
    }
}

extension PlanMember.Kind {
    /// The kind of a member that is compared with a type.
    init?(comparedWith type: OperandType) {
        guard case .attribute(let type) = type else { return nil }
        self =
            switch type {
            case .int16, .int32, .int64, .float, .double: .number
            case .json: .text
            case .bool, .decimal, .string, .date, .uuid, .url, .data: .attribute(type)
            }
    }

    /// The kind of a member that is compared with a value; text for nil.
    init(comparedWith value: Value) {
        self =
            switch value {
            case .null, .json, .objects, .object: .text
            case .int, .float, .double: .number
            case .bool: .attribute(.bool)
            case .decimal: .attribute(.decimal)
            case .string: .attribute(.string)
            case .date: .attribute(.date)
            case .uuid: .attribute(.uuid)
            case .url: .attribute(.url)
            case .data: .attribute(.data)
            }
    }

    /// The type of a value that is compared with the member; nil for its own type.
    var valueType: OperandType? {
        switch self {
        case .text: .attribute(.json)
        case .number, .like: nil
        case .attribute(let type): .attribute(type)
        }
    }

    /// The name of the kind for the SQL function. `like` is resolved before.
    var word: String {
        switch self {
        case .text, .like: "json"
        case .number: "number"
        case .attribute(let type): type.rawValue
        }
    }
}
