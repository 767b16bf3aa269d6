import LarderModel

/// Writes entities as interfaces of TypeScript, for the client in `Clients/typescript`.
///
/// The interface of a subentity extends that of its parent.
struct TypeScriptModels {
    let schema: Schema

    /// The module with the interfaces of the entities and of their ancestors, and with the type of
    /// all of them.
    static func text(_ entities: [Entity], of schema: Schema) -> String {
        let models = TypeScriptModels(schema: schema)
        var written: Set<String> = []
        let lineages = entities.flatMap { schema.lineage(of: $0) }
        let described = lineages.filter { written.insert($0.name).inserted }
        let source = "version \(schema.version) of the schema"
        let heading = [
            "// Written by `larder schema show --output typescript` from \(source).",
            "",
            "import type * as larder from \"larder\";",
        ]
        let all =
            ["/** The entities of the schema, for `connect<Entities>(path)`. */"]
            + ["export interface Entities {"]
            + described.map { "    \($0.name): \(escaped($0.name));" } + ["}"]
        let blocks = [heading] + described.map(models.lines) + [all]
        return blocks.map { $0.joined(separator: "\n") }.joined(separator: "\n\n") + "\n"
    }

    private func lines(of entity: Entity) -> [String] {
        let description =
            entity.isAbstract
            ? "Abstract: all objects are of subentities."
            : "An object of the entity \(entity.name)."
        let parent = entity.parent.map(Self.escaped) ?? "larder.StoredObject"
        let attributes = entity.declared.attributes.map { attribute in
            // Only the store sets a derived attribute.
            let name = attribute.isDerived ? "readonly \(attribute.name)" : attribute.name
            return "    \(name): \(Self.type(of: attribute));"
        }
        return [
            "/** \(description) */",
            "export interface \(Self.escaped(entity.name)) extends \(parent) {",
        ] + attributes + entity.declared.relationships.flatMap(Self.lines) + ["}"]
    }

    private static func lines(of relationship: Relationship) -> [String] {
        let name = relationship.name
        return relationship.isToMany
            ? [
                "    /** Among the values of `get` only. */",
                "    \(name)?: readonly larder.Identifier[];",
            ]
            : ["    \(name): larder.Identifier\(relationship.isOptional ? " | null" : "");"]
    }

    private static func type(of attribute: Attribute) -> String {
        let type = type(of: attribute.type)
        return attribute.isOptional || attribute.isDerived ? type + " | null" : type
    }

    private static func type(of type: AttributeType) -> String {
        switch type {
        case .bool: "boolean"
        case .int16, .int32, .float, .double: "number"
        case .int64: "larder.Integer"
        case .decimal: "larder.Decimal"
        case .string: "string"
        case .date: "larder.StoredDate"
        case .uuid: "larder.Uuid"
        case .url: "larder.Url"
        case .data: "Uint8Array"
        case .json: "larder.JsonValue"
        }
    }

    /// The name of an interface. An underscore follows a name that TypeScript or the module needs
    /// for something else, and one that ends with an underscore itself.
    private static func escaped(_ name: String) -> String {
        reserved.contains(name) || name.hasSuffix("_") ? name + "_" : name
    }

    /// The words of TypeScript that are not names of interfaces, and the names in the module.
    private static let reserved: Set<String> = [
        "any", "async", "await", "bigint", "boolean", "break", "case", "catch", "class", "const",
        "continue", "debugger", "default", "delete", "do", "else", "enum", "export", "extends",
        "false", "finally", "for", "function", "if", "implements", "import", "in", "instanceof",
        "interface", "let", "never", "new", "null", "number", "object", "package", "private",
        "protected", "public", "return", "static", "string", "super", "switch", "symbol", "this",
        "throw", "true", "try", "typeof", "undefined", "unknown", "var", "void", "while", "with",
        "yield",
        "Entities", "Uint8Array", "larder",
    ]
}
