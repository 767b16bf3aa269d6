import LarderModel

/// A member of a json attribute: where it is, and as what it is read.
struct PlanMember: Hashable, Sendable {
    /// As what a member is read; it is nil if it holds another kind.
    enum Kind: Hashable, Sendable {
        /// Its JSON text.
        case text
        /// A number, to be compared with others: an integer where it is one.
        case number
        case attribute(AttributeType)
        /// What a value of the query is, which only the parameters tell.
        case like(PlanValue)
    }

    var document: PlanColumn
    var path: [String]
    var kind = Kind.text

    var name: String { "\(document.name).\(path.joined(separator: "."))" }

    /// Nil where only a value tells.
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
    /// As what a member is read beside a type in a comparison.
    init?(beside type: OperandType) {
        guard case .attribute(let type) = type else { return nil }
        self =
            switch type {
            case .int16, .int32, .int64, .float, .double: .number
            case .json: .text
            case .bool, .decimal, .string, .date, .uuid, .url, .data: .attribute(type)
            }
    }

    /// As what a member is read beside a value; text beside nil.
    init(beside value: Value) {
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

    /// The type that a value beside the member takes; nil for its own.
    var valueType: OperandType? {
        switch self {
        case .text: .attribute(.json)
        case .number, .like: nil
        case .attribute(let type): .attribute(type)
        }
    }

    /// How the SQL function is told; `like` is decided before.
    var word: String {
        switch self {
        case .text, .like: "json"
        case .number: "number"
        case .attribute(let type): type.rawValue
        }
    }
}
