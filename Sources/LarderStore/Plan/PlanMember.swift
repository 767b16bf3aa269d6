import LarderModel
import LarderQuery

/// A member of a JSON document, and how it is read.
struct PlanMember: Hashable, Sendable {
    /// An operand of the type json.
    var document: PlanOperand
    /// Empty for the document itself.
    var path: [String]
    var kind = MemberKind.json

    var name: String { ([document.name] + path).joined(separator: ".") }

    /// Nil if a value determines it.
    var type: OperandType? { kind.type }
}
