import SwiftDiagnostics
import SwiftSyntax

/// A problem with a declaration to which `@Model` or `@ModelActor` is attached.
enum ModelProblem: DiagnosticMessage {
    case notAClass(kind: String, name: String)
    case notAnActor(kind: String, name: String)
    case generic(String)
    case withoutInitializer(String)
    case transientWithoutDefault(String)
    case conditional(String, String, String)
    case severalOptions(String)
    case severalVariables
    case lazy(String)
    case reference(String, specifier: String)
    case constant(String)
    case attributeAndRelationship(String)
    case unpersistedInConstraint(String, macro: String)
    case optionsWithoutEffect(String, String)
    case emptyConstraint(macro: String)
    case emptyList(macro: String)

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
        case .conditional(let name, let option, let condition):
            """
            @Model cannot evaluate the condition '\(condition)' of \(option) of '\(name)'; \
            declare the whole property in each clause of the #if
            """
        case .severalOptions(let name):
            "write all options of '\(name)' in one @Attribute or @Relationship"
        case .severalVariables: "declare each persisted property by a 'var' of its own"
        case .lazy(let name):
            "'\(name)' cannot be lazy; mark it with @Transient to keep it out of the store"
        case .reference(let name, let specifier):
            """
            '\(name)' cannot be \(specifier), because the store keeps related objects; \
            remove '\(specifier)' or mark it with @Transient
            """
        case .constant(let name):
            """
            the constant '\(name)' has an initial value that the store cannot replace in a model \
            that it reads; set '\(name)' in the initializers, or write 'private(set) var'
            """
        case .attributeAndRelationship(let name):
            "'\(name)' cannot be both an attribute and a relationship"
        case .unpersistedInConstraint(let name, let macro):
            "'\(name)' is not persisted, so #\(macro) cannot name it"
        case .optionsWithoutEffect(let name, let macro):
            "'\(name)' is not persisted here, so @\(macro) has no effect; remove it"
        case .emptyConstraint(let macro):
            "#\(macro) names no property, so it has no effect; remove it"
        case .emptyList(let macro):
            "a list of #\(macro) names no property, so it has no effect; remove it"
        }
    }

    var diagnosticID: MessageID {
        MessageID(domain: "SwiftData", id: "\(self)".prefix { $0 != "(" }.description)
    }

    var severity: DiagnosticSeverity {
        switch self {
        case .emptyConstraint, .emptyList, .optionsWithoutEffect: .warning
        default: .error
        }
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
