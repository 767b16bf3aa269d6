import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// `@ModelActor`: the executor, the container and an initializer.
open class PersistentModelActorMacro: MemberMacro, ExtensionMacro {
    public static func expansion(
        of node: AttributeSyntax, providingMembersOf declaration: some DeclGroupSyntax,
        conformingTo protocols: [TypeSyntax], in context: some MacroExpansionContext
    ) -> [DeclSyntax] {
        guard let actor = declaration.as(ActorDeclSyntax.self) else {
            if let problem = declaration.problemOfKind(ModelProblem.notAnActor) {
                context.diagnose(problem.diagnostic)
            }
            return []
        }
        // The members of a public actor satisfy requirements, so they are public too.
        let access =
            actor.modifiers.lazy.map(\.name.text)
            .first { ["public", "package", "open"].contains($0) }
            .map { $0 == "open" ? "public " : "\($0) " } ?? ""
        let properties: [DeclSyntax] = [
            "\(raw: access)nonisolated let modelExecutor: any SwiftData.ModelExecutor",
            "\(raw: access)nonisolated let modelContainer: SwiftData.ModelContainer",
        ]
        guard !actor.declaresInitializer else { return properties }
        return properties + [
            """
            \(raw: access)init(modelContainer: SwiftData.ModelContainer) {
                let modelContext = SwiftData.ModelContext(modelContainer)
                self.modelExecutor = SwiftData.DefaultSerialModelExecutor(
                    modelContext: modelContext)
                self.modelContainer = modelContainer
            }
            """
        ]
    }

    public static func expansion(
        of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
        providingExtensionsOf type: some TypeSyntaxProtocol, conformingTo protocols: [TypeSyntax],
        in context: some MacroExpansionContext
    ) throws -> [ExtensionDeclSyntax] {
        guard declaration.is(ActorDeclSyntax.self), !protocols.isEmpty else { return [] }
        return [try ExtensionDeclSyntax("extension \(type.trimmed): SwiftData.ModelActor {}")]
    }
}

extension ActorDeclSyntax {
    /// Whether the actor itself has `init(modelContainer:)`.
    fileprivate var declaresInitializer: Bool {
        memberBlock.members.contains { member in
            let parameters = member.decl.as(InitializerDeclSyntax.self)?.signature
                .parameterClause.parameters
            return parameters?.count == 1
                && parameters?.first?.firstName.text == "modelContainer"
        }
    }
}
