import SwiftCompilerPlugin
import SwiftDataExpansion
import SwiftSyntaxMacros

/// The compiler plugin of `SwiftData`.
///
/// The compiler finds a macro by the name of this module, and the tests cannot depend on a plugin
/// without being built, with all that they test, a second time for it. The expansions are
/// therefore in `SwiftDataExpansion`, and the macros here have only their names.
@main
struct Plugin: CompilerPlugin {
    let providingMacros: [any Macro.Type] = [
        PersistentModelMacro.self, PersistentModelActorMacro.self, AttributePropertyMacro.self,
        RelationshipPropertyMacro.self, TransientPropertyMacro.self, UniqueMacro.self,
        IndexMacro.self, PersistedPropertyMacro.self, TransformablePersistedPropertyMacro.self,
        CloudKitCheckedMacro.self,
    ]
}

final class PersistentModelMacro: SwiftDataExpansion.PersistentModelMacro {}
final class PersistentModelActorMacro: SwiftDataExpansion.PersistentModelActorMacro {}
final class AttributePropertyMacro: SwiftDataExpansion.AttributePropertyMacro {}
final class RelationshipPropertyMacro: SwiftDataExpansion.RelationshipPropertyMacro {}
final class TransientPropertyMacro: SwiftDataExpansion.TransientPropertyMacro {}
final class UniqueMacro: SwiftDataExpansion.UniqueMacro {}
final class IndexMacro: SwiftDataExpansion.IndexMacro {}
final class PersistedPropertyMacro: SwiftDataExpansion.PersistedPropertyMacro {}
final class TransformablePersistedPropertyMacro:
    SwiftDataExpansion.TransformablePersistedPropertyMacro
{}
final class CloudKitCheckedMacro: SwiftDataExpansion.CloudKitCheckedMacro {}
