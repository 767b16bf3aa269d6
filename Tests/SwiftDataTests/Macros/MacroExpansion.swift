import SwiftDiagnostics
import SwiftParser
import SwiftSyntax
import SwiftSyntaxMacroExpansion
import SwiftSyntaxMacros

@testable import SwiftDataExpansion

/// The source after the expansion of the macros of SwiftData, and what they report.
struct MacroExpansion {
    let source: String
    let messages: [String]
    let warnings: [String]

    /// - Parameter conformances: The conformances for which the compiler asks.
    init(_ source: String, conformances: [TypeSyntax] = ModelConformances.ofRoot) {
        let file = Parser.parse(source: source)
        let context = BasicMacroExpansionContext(
            sourceFiles: [file: .init(moduleName: "Test", fullFilePath: "/Test.swift")])
        let specifications: [String: MacroSpec] = [
            "Model": MacroSpec(type: PersistentModelMacro.self, conformances: conformances),
            "ModelActor": MacroSpec(
                type: PersistentModelActorMacro.self, conformances: ["ModelActor"]),
            "Attribute": MacroSpec(type: AttributePropertyMacro.self),
            "Relationship": MacroSpec(type: RelationshipPropertyMacro.self),
            "Transient": MacroSpec(type: TransientPropertyMacro.self),
            "Unique": MacroSpec(type: UniqueMacro.self),
            "Index": MacroSpec(type: IndexMacro.self),
            "CloudKitChecked": MacroSpec(type: CloudKitCheckedMacro.self),
            "_PersistedProperty": MacroSpec(type: PersistedPropertyMacro.self),
            "_TransformablePersistedProperty": MacroSpec(
                type: TransformablePersistedPropertyMacro.self),
        ]
        let expanded = file.expand(macroSpecs: specifications) { syntax in
            BasicMacroExpansionContext(
                sharingWith: context, lexicalContext: syntax.allMacroLexicalContexts())
        }
        self.source = expanded.description
        var messages: [String] = []
        var warnings: [String] = []
        for diagnostic in context.diagnostics {
            if diagnostic.diagMessage.severity == .warning {
                warnings.append(diagnostic.message)
            } else {
                messages.append(diagnostic.message)
            }
        }
        self.messages = messages
        self.warnings = warnings
    }

    /// Whether the source has a text, whatever the white space between its words.
    func contains(_ text: String) -> Bool {
        Self.words(of: source).contains(Self.words(of: text))
    }

    private static func words(of text: String) -> String {
        text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }
}

enum ModelConformances {
    static let ofRoot: [TypeSyntax] = [
        "Observable", "PersistentModel", "Sendable", "_ModelRoot",
    ]
    static let ofSubclass: [TypeSyntax] = []
}
