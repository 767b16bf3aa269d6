import SwiftCompilerPlugin
import SwiftSyntaxMacros

/// The compiler plugin of `SwiftData`.
@main
struct Plugin: CompilerPlugin {
    let providingMacros: [any Macro.Type] = []
}
