import SwiftDiagnostics
import SwiftSyntax

/// An error in a declaration to which `@Entity` is attached.
enum RecordProblem: Error, DiagnosticMessage {
    case notAStruct
    case generic
    case withoutIdentifier(String)
    case identifierOfAnotherType
    case nameIsNotALiteral
    case severalVariables
    case withoutType(String)
    case constant(String)
    case lazy(String)
    case transientWithoutDefault(String)
    case setOfObjects(String)
    case optionalList(String)

    var message: String {
        switch self {
        case .notAStruct: "@Entity is attached to structs only"
        case .generic: "a struct with @Entity cannot have generic parameters"
        case .withoutIdentifier(let name):
            "\(name) needs `var id: PersistentIdentifier?`, which is nil before the insert"
        case .identifierOfAnotherType: "`id` is declared as `var id: PersistentIdentifier?`"
        case .nameIsNotALiteral: "the name of the entity is a string literal"
        case .severalVariables: "declare each property by a `var` of its own"
        case .withoutType(let name): "`\(name)` needs a type: write `var \(name): Type = …`"
        case .constant(let name):
            "`\(name)` is a constant with a value, so nothing can be read into it; use `var`"
        case .lazy(let name): "`\(name)` cannot be lazy; mark it with @Transient or compute it"
        case .transientWithoutDefault(let name):
            "`\(name)` needs a default value, because the store has none for it"
        case .setOfObjects(let name):
            "`\(name)` is a to-many relationship, which is an array: [Ref<…>]"
        case .optionalList(let name):
            "`\(name)` is a to-many relationship, which may be empty but not nil: [Ref<…>]"
        }
    }

    var diagnosticID: MessageID {
        MessageID(domain: "LarderRecords", id: "\(self)".prefix { $0 != "(" }.description)
    }

    var severity: DiagnosticSeverity { .error }
}

/// A problem and the part of the declaration that has it.
struct LocatedProblem: Error {
    let node: Syntax
    let problem: RecordProblem

    init(_ node: some SyntaxProtocol, _ problem: RecordProblem) {
        self.node = Syntax(node)
        self.problem = problem
    }
}
