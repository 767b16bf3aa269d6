internal import CloudKitRules
import SwiftDiagnostics
import SwiftIfConfig
import SwiftSyntax
import SwiftSyntaxMacros

/// `@CloudKitChecked`: warnings for what CloudKit refuses, as far as the declaration of the class
/// shows it. It expands to nothing.
open class CloudKitCheckedMacro: PeerMacro {
    public static func expansion(
        of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) -> [DeclSyntax] {
        guard let model = declaration.as(ClassDeclSyntax.self) else {
            context.diagnose(Diagnostic(node: node, message: CloudKitMessage.notAClass))
            return []
        }
        let configuration = context.buildConfiguration
        for member in model.memberBlock.members.members(in: configuration) {
            let name = model.name.text.withoutBackquotes
            for (node, text) in problems(of: member.element, in: name, configuration) {
                context.diagnose(Diagnostic(node: node, message: CloudKitMessage.problem(text)))
            }
        }
        return []
    }

    private static func problems(
        of member: DeclSyntax, in entityName: String, _ configuration: (any BuildConfiguration)?
    ) -> [(Syntax, String)] {
        if let macro = member.as(MacroExpansionDeclSyntax.self), macro.macroName.text == "Unique" {
            return macro.arguments.map { list in
                let problem = CloudKitProblem.unique(list.expression.keyPathNames)
                return (Syntax(list), problem.sentence(about: entityName))
            }
        }
        // `@Model` reports properties that it cannot persist.
        guard let variable = member.as(VariableDeclSyntax.self),
            let property = try? PropertyDeclaration(variable, configuration)
        else { return [] }
        let name = property.plainName
        var problems: [(Syntax, String)] = []
        for problem in property.cloudKitProblems {
            problems.append((Syntax(variable), problem.sentence(about: "\(entityName).\(name)")))
        }
        if property.hasOption("unique") {
            let problem = CloudKitProblem.unique([name])
            problems.append((Syntax(variable), problem.sentence(about: entityName)))
        }
        return problems
    }
}

extension PropertyDeclaration {
    /// A relationship is known by `@Relationship`. Whether it has an inverse depends on the other
    /// class, which a macro does not see.
    fileprivate var cloudKitProblems: [CloudKitProblem] {
        let isOptional = type?.isOptional == true
        let relationships = options.filter { $0.attribute.isNamed("Relationship") }
        if relationships.isEmpty {
            return CloudKitProblem.ofAttribute(
                isOptional: isOptional, hasDefault: initialValue != nil)
        }
        return CloudKitProblem.ofRelationship(
            isOptional: isOptional, hasInverse: true,
            isDenied: relationships.flatMap(\.attribute.labeledArguments).contains {
                $0.label?.text == "deleteRule" && $0.expression.memberName == "deny"
            })
    }

    fileprivate func hasOption(_ name: String) -> Bool {
        options.flatMap(\.attribute.labeledArguments)
            .contains { $0.label == nil && $0.expression.memberName == name }
    }
}

extension AttributeSyntax {
    fileprivate var labeledArguments: [LabeledExprSyntax] {
        arguments?.as(LabeledExprListSyntax.self).map(Array.init) ?? []
    }
}

extension ExprSyntax {
    /// `deny` of `.deny` and of `Schema.Relationship.DeleteRule.deny`.
    fileprivate var memberName: String? {
        self.as(MemberAccessExprSyntax.self)?.declName.baseName.text
    }

    /// `a` and `b` of `[\.a, \Item.b]`.
    fileprivate var keyPathNames: [String] {
        self.as(ArrayExprSyntax.self)?.elements.map { element in
            guard let keyPath = element.expression.as(KeyPathExprSyntax.self) else {
                return element.expression.trimmedDescription
            }
            return keyPath.components.map(\.component.trimmedDescription).joined(separator: ".")
                .withoutBackquotes
        } ?? []
    }
}

extension TypeSyntax {
    fileprivate var isOptional: Bool {
        self.is(OptionalTypeSyntax.self) || self.is(ImplicitlyUnwrappedOptionalTypeSyntax.self)
            || self.as(IdentifierTypeSyntax.self)?.name.text == "Optional"
    }
}

extension String {
    fileprivate var withoutBackquotes: String { filter { $0 != "`" } }
}

private enum CloudKitMessage: DiagnosticMessage {
    case notAClass
    case problem(String)

    var message: String {
        switch self {
        case .notAClass: "'@CloudKitChecked' can only be applied to a model class"
        case .problem(let sentence): sentence
        }
    }

    var diagnosticID: MessageID {
        MessageID(domain: "LarderData", id: "cloudKit")
    }

    var severity: DiagnosticSeverity {
        if case .notAClass = self { .error } else { .warning }
    }
}
