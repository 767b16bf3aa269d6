import LarderRecordExpansion
import SwiftCompilerPlugin
import SwiftSyntaxMacros

/// The compiler plugin of `LarderRecords`. The macros have their expansions from
/// `LarderRecordExpansion`, so that tests do not depend on a plugin; `SwiftDataMacros` tells why.
@main
struct Plugin: CompilerPlugin {
    let providingMacros: [any Macro.Type] = [
        EntityMacro.self, PropertyMacro.self, ConstraintMacro.self,
    ]
}

final class EntityMacro: LarderRecordExpansion.EntityMacro {}
final class PropertyMacro: LarderRecordExpansion.PropertyMacro {}
final class ConstraintMacro: LarderRecordExpansion.ConstraintMacro {}
