import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// `@Entity`: the fields, the description of the properties, and their reading and writing.
open class EntityMacro: MemberMacro, ExtensionMacro {
    public static func expansion(
        of node: AttributeSyntax, providingMembersOf declaration: some DeclGroupSyntax,
        conformingTo protocols: [TypeSyntax], in context: some MacroExpansionContext
    ) -> [DeclSyntax] {
        guard
            let record = RecordDeclaration(declaration, node, reporting: { context.diagnose($0) })
        else { return [] }
        return [
            record.fields, record.storedProperties, record.entityName, record.recordProperties,
            record.entityOptions, record.writing,
        ].map { "\(raw: $0)" }
    }

    public static func expansion(
        of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
        providingExtensionsOf type: some TypeSyntaxProtocol, conformingTo protocols: [TypeSyntax],
        in context: some MacroExpansionContext
    ) throws -> [ExtensionDeclSyntax] {
        // The other expansion reports what is wrong.
        guard let record = RecordDeclaration(declaration, node, reporting: { _ in }) else {
            return []
        }
        // In an extension, so that the struct keeps its memberwise initializer.
        return [
            try ExtensionDeclSyntax(
                """
                extension \(type.trimmed): LarderRecords.EntityRecord {
                \(raw: record.reading)
                }
                """)
        ]
    }
}

// The members as source text.

extension RecordDeclaration {
    /// Never instantiated, so its properties need no values.
    fileprivate var fields: String {
        let members = properties.map { "    \($0.access)let \($0.name): \($0.fieldType)" }
        return """
            \(access)final class Fields: LarderRecords.RecordFields {
                \(access)typealias Record = \(typeName)
                \(access)let id: \(identifierType)
                \(access)static var identifier: any Swift.AnyKeyPath & Swift.Sendable {
                    \\\(typeName).Fields.id
                }
            \(members.joined(separator: "\n"))
                private init(_ never: Never) { switch never {} }
            }
            """
    }

    fileprivate var storedProperties: String {
        let members = properties.map { property in
            let name = property.name
            var arguments = [
                property.nameLiteral, "\\\(typeName).\(name)",
                "field: \\\(typeName).Fields.\(name)",
                "chainedField: \\\(typeName).Fields?.?.\(name)",
                "LarderRecords.MemberCodings.coding(of: (\(property.type)).self)",
            ]
            if let options = property.options { arguments.append(options) }
            if let value = property.schemaDefault { arguments.append("default: \(value)") }
            return """
                    static let \(name) = LarderRecords.StoredProperty(
                        \(arguments.joined(separator: ", ")))
                """
        }
        return """
            private enum StoredProperties {
            \(members.joined(separator: "\n"))
            }
            """
    }

    fileprivate var entityName: String {
        "\(access)static var entityName: Swift.String { \(entityNameLiteral) }"
    }

    fileprivate var recordProperties: String {
        let elements = properties.map {
            "    LarderRecords.RecordProperty(StoredProperties.\($0.name)),"
        }
        return """
            \(access)static let recordProperties: [LarderRecords.RecordProperty] = [
            \(elements.joined(separator: "\n"))
            ]
            """
    }

    fileprivate var entityOptions: String {
        let arguments =
            otherArguments + [
                "unique: [\(uniqueConstraints.joined(separator: ", "))]",
                "indexes: [\(indexes.joined(separator: ", "))]",
            ] + (searches.isEmpty ? [] : ["search: [\(searches.joined(separator: ", "))]"])
        return """
            \(access)static var entityOptions: LarderRecords.EntityOptions {
                LarderRecords.EntityOptions(\(arguments.joined(separator: ", ")))
            }
            """
    }

    fileprivate var reading: String {
        let members = properties.enumerated().map {
            "        self.\($1.name) = try StoredProperties.\($1.name).read(row, \($0))"
        }
        return """
                \(access)init(row: LarderRecords.RecordRow) throws(LarderRecords.LarderError) {
                    self.id = row.identifier
            \(members.joined(separator: "\n"))
                }
            """
    }

    fileprivate var writing: String {
        let members = properties.map {
            "    try StoredProperties.\($0.name).write(self.\($0.name), to: &values)"
        }
        return """
            \(access)func write(
                to values: inout [Swift.String: LarderRecords.Value]
            ) throws(LarderRecords.LarderError) {
            \(members.joined(separator: "\n"))
            }
            """
    }
}
