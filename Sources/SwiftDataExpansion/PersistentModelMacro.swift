import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// `@Model`: the storage of a model, the description of its properties, and its conformances.
///
/// A class of a hierarchy has storage for its own properties, because the initial values of a
/// subclass are set before those of its superclass. The storages become one when the object is
/// complete (`_$unite`). Whether the superclass is a model is known by the conformances that the
/// compiler asks for.
open class PersistentModelMacro: MemberMacro, MemberAttributeMacro, ExtensionMacro {
    public static func expansion(
        of node: AttributeSyntax, providingMembersOf declaration: some DeclGroupSyntax,
        conformingTo protocols: [TypeSyntax], in context: some MacroExpansionContext
    ) -> [DeclSyntax] {
        let configuration = context.buildConfiguration
        guard
            let model = ModelDeclaration(
                declaration, configuration, reporting: { context.diagnose($0) })
        else { return [] }
        let isRoot = protocols.contains { $0.lastName == "_ModelRoot" }
        let members = isRoot ? model.membersOfRoot : model.membersOfSubclass
        return members.map { "\(raw: $0)" }
    }

    public static func expansion(
        of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
        providingAttributesFor member: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) -> [AttributeSyntax] {
        let configuration = context.buildConfiguration
        guard let model = declaration.as(ClassDeclSyntax.self),
            let variable = member.as(VariableDeclSyntax.self)
        else { return [] }
        do throws(LocatedProblem) {
            guard let property = try PropertyDeclaration(variable, configuration) else {
                if let problem = variable.optionsWithoutEffect(configuration) {
                    context.diagnose(problem.diagnostic)
                }
                return []
            }
            if property.isConstant { return [] }
            let slot = ModelDeclaration.slot(of: property, in: model, configuration)
            let kind = property.isTransformable ? "_TransformablePersisted" : "_Persisted"
            let argument = slot.map { "(\($0))" } ?? ""
            return ["@SwiftData.\(raw: kind)Property\(raw: argument)"]
        } catch {
            context.diagnose(error.diagnostic)
            return []
        }
    }

    public static func expansion(
        of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
        providingExtensionsOf type: some TypeSyntaxProtocol, conformingTo protocols: [TypeSyntax],
        in context: some MacroExpansionContext
    ) throws -> [ExtensionDeclSyntax] {
        // The other expansion reports what is wrong.
        guard
            let model = ModelDeclaration(
                declaration, context.buildConfiguration, reporting: { _ in })
        else { return [] }
        let names = protocols.map(\.lastName)
        var extensions: [ExtensionDeclSyntax] = []
        for (name, written) in [
            ("PersistentModel", "SwiftData.PersistentModel"),
            ("_ModelRoot", "SwiftData._ModelRoot"),
            ("Observable", "Observation.Observable"),
        ] where names.contains(name) {
            extensions.append(
                try ExtensionDeclSyntax("extension \(type.trimmed): nonisolated \(raw: written) {}")
            )
        }
        // An instance that is isolated to a global actor is Sendable.
        if names.contains("Sendable"), model.globalActor == nil {
            extensions.append(
                try ExtensionDeclSyntax(
                    """
                    @available(
                        *, unavailable,
                        message: "PersistentModels are not Sendable, consider utilizing a \
                    ModelActor or use \(raw: model.typeName)'s persistentModelID instead"
                    )
                    extension \(type.trimmed): Sendable {}
                    """))
        }
        return extensions
    }
}

extension TypeSyntax {
    /// The name of a type without those that contain it.
    var lastName: String {
        self.as(MemberTypeSyntax.self)?.name.text ?? trimmedDescription
    }
}
