import LarderModel
import LarderQuery

/// A member of a JSON document, and how it is read.
package struct PlanMember: Hashable, Sendable {
    /// An operand of the type json.
    package var document: PlanOperand
    /// Empty for the document itself.
    package var path: [String]
    package var kind = MemberKind.json

    package var name: String { ([document.name] + path).joined(separator: ".") }

    /// Nil if a value determines it.
    package var type: OperandType? { kind.type }
}
