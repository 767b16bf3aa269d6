import LarderModel

/// A member of a json attribute: its path, and the type as which it is read.
struct PlanMember: Hashable, Sendable {
    var document: PlanColumn
    var path: [String]
    var kind = MemberKind.text

    var name: String { "\(document.name).\(path.joined(separator: "."))" }

    /// Nil if a value determines it.
    var type: OperandType? { kind.type }
}

extension MemberKind {
    /// The name of the kind for the SQL function. `like` is resolved before.
    var word: String {
        switch self {
        case .text, .like: "json"
        case .number: "number"
        case .attribute(let type): type.rawValue
        }
    }
}
