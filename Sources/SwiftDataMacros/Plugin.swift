import SwiftCompilerPlugin
import SwiftSyntax
import SwiftSyntaxMacros

/// The compiler plugin of `SwiftData`.
@main
struct Plugin: CompilerPlugin {
    let providingMacros: [any Macro.Type] = [
        PersistentModelMacro.self, PersistentModelActorMacro.self, AttributePropertyMacro.self,
        RelationshipPropertyMacro.self, TransientPropertyMacro.self, UniqueMacro.self,
        IndexMacro.self, PersistedPropertyMacro.self, TransformablePersistedPropertyMacro.self,
        CloudKitCheckedMacro.self,
    ]
}

/// A macro of a property that ``PersistentModelMacro`` reads, and that expands to nothing itself.
protocol PropertyMarker: PeerMacro {}

extension PropertyMarker {
    static func expansion(
        of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) -> [DeclSyntax] { [] }
}

/// `@Attribute`.
struct AttributePropertyMacro: PropertyMarker {}

/// `@Relationship`.
struct RelationshipPropertyMacro: PropertyMarker {}

/// `@Transient`.
struct TransientPropertyMacro: PropertyMarker {}

/// A freestanding macro in a class that ``PersistentModelMacro`` reads, and that expands to nothing
/// itself.
protocol ConstraintMarker: DeclarationMacro {}

extension ConstraintMarker {
    static func expansion(
        of node: some FreestandingMacroExpansionSyntax, in context: some MacroExpansionContext
    ) -> [DeclSyntax] { [] }
}

/// `#Unique`.
struct UniqueMacro: ConstraintMarker {}

/// `#Index`.
struct IndexMacro: ConstraintMarker {}
