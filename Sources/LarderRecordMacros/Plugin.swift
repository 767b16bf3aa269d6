import SwiftCompilerPlugin
import SwiftSyntax
import SwiftSyntaxMacros

/// The compiler plugin of `LarderRecords`.
@main
struct Plugin: CompilerPlugin {
    let providingMacros: [any Macro.Type] = [
        EntityMacro.self, PropertyMacro.self, ConstraintMacro.self,
    ]
}

/// `@Attribute`, `@Relationship` and `@Transient`, which ``EntityMacro`` reads.
struct PropertyMacro: PeerMacro {
    static func expansion(
        of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) -> [DeclSyntax] { [] }
}

/// `#Unique`, `#Index` and `#Search`, which ``EntityMacro`` reads.
struct ConstraintMacro: DeclarationMacro {
    static func expansion(
        of node: some FreestandingMacroExpansionSyntax, in context: some MacroExpansionContext
    ) -> [DeclSyntax] { [] }
}
