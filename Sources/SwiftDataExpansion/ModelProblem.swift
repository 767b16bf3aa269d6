import SwiftDiagnostics
import SwiftSyntax

/// A problem with a declaration to which `@Model` or `@ModelActor` is attached.
enum ModelProblem: DiagnosticMessage {
    case notAClass(kind: String, name: String)
    case notAnActor(kind: String, name: String)
    case generic(String)
    case withoutInitializer(String)
    case transientWithoutDefault(String)
    case observedWithoutDefault(String)
    case observed(String)
    case severalVariables
    case lazy(String)
    case reference(String, specifier: String)
    case constant(String)
    case attributeAndRelationship(String)
    case unpersistedInConstraint(String, macro: String)

    var message: String {
        switch self {
        case .notAClass(let kind, let name):
            "'@Model' cannot be applied to \(kind) type '\(name)'"
        case .notAnActor(let kind, let name):
            "'@ModelActor' cannot be applied to \(kind) type '\(name)'"
        case .generic(let name): "'@Model' cannot be applied to generic class '\(name)'"
        case .withoutInitializer(let name):
            "@Model requires an initializer be provided for '\(name)'"
        case .transientWithoutDefault(let name):
            "@Transient requires non-optional property '\(name)' to have a default value"
        case .observedWithoutDefault(let name):
            "'\(name)' has observers, so it is not persisted and needs a default value"
        case .observed(let name):
            "'\(name)' has observers, so it is not persisted; mark it with @Transient"
        case .severalVariables: "declare each persisted property by a 'var' of its own"
        case .lazy(let name):
            "'\(name)' cannot be lazy; mark it with @Transient to keep it out of the store"
        case .reference(let name, let specifier):
            """
            '\(name)' cannot be \(specifier), because the store keeps related objects; \
            remove '\(specifier)' or mark it with @Transient
            """
        case .constant(let name):
            "'\(name)' is a constant, which the store cannot set; write 'private(set) var'"
        case .attributeAndRelationship(let name):
            "'\(name)' cannot be both an attribute and a relationship"
        case .unpersistedInConstraint(let name, let macro):
            "'\(name)' is not persisted, so #\(macro) cannot name it"
        }
    }

    var diagnosticID: MessageID {
        MessageID(domain: "SwiftData", id: "\(self)".prefix { $0 != "(" }.description)
    }

    var severity: DiagnosticSeverity {
        if case .observed = self { .warning } else { .error }
    }
}

/// A problem and the part of the declaration that has it.
struct LocatedProblem: Error {
    let node: Syntax
    let problem: ModelProblem

    init(_ node: some SyntaxProtocol, _ problem: ModelProblem) {
        self.node = Syntax(node)
        self.problem = problem
    }

    var diagnostic: Diagnostic { Diagnostic(node: node, message: problem) }
}
