import SwiftSyntax
import SwiftSyntaxMacros

/// A macro of a property that ``PersistentModelMacro`` reads, and that expands to nothing itself.
public protocol PropertyMarker: PeerMacro {}

extension PropertyMarker {
    public static func expansion(
        of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) -> [DeclSyntax] { [] }
}

/// `@Attribute`.
open class AttributePropertyMacro: PropertyMarker {}

/// `@Relationship`.
open class RelationshipPropertyMacro: PropertyMarker {}

/// `@Transient`.
open class TransientPropertyMacro: PropertyMarker {}

/// A freestanding macro in a class that ``PersistentModelMacro`` reads, and that expands to nothing
/// itself.
public protocol ConstraintMarker: DeclarationMacro {}

extension ConstraintMarker {
    public static func expansion(
        of node: some FreestandingMacroExpansionSyntax, in context: some MacroExpansionContext
    ) -> [DeclSyntax] { [] }
}

/// `#Unique`.
open class UniqueMacro: ConstraintMarker {}

/// `#Index`.
open class IndexMacro: ConstraintMarker {}
