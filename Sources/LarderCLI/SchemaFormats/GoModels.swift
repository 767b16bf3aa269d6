import LarderModel

/// Writes entities as structs for the Go client, in the layout of gofmt.
///
/// The struct of a subentity embeds that of its parent. Exported names of Go begin with a capital
/// letter; no two names of a schema differ only in case.
struct GoModels {
    private struct Field {
        let name: String
        let type: String
        let tag: String
    }

    let schema: Schema

    static func text(_ entities: [Entity], of schema: Schema) -> String {
        let models = GoModels(schema: schema)
        let bodies = entities.map(models.text)
        let types = entities.flatMap(models.fields).map(\.type)
        let imports = [("encoding/json", "json."), ("time", "time."), ("larder", "larder.")]
            .filter { _, prefix in types.contains { $0.contains(prefix) } }.map(\.0)
        var lines = [
            "// Written by `larder schema show --output go` from version \(schema.version) of the "
                + "schema.",
            "", "package models",
        ]
        // The package of the client is apart from those of Go.
        let standard = imports.filter { $0 != "larder" }.map { "\t\"\($0)\"" }
        let client = imports.filter { $0 == "larder" }.map { "\t\"\($0)\"" }
        let groups = [standard, client].filter { !$0.isEmpty }
        if !groups.isEmpty {
            lines += ["", "import ("] + Array(groups.joined(separator: [""])) + [")"]
        }
        return lines.joined(separator: "\n") + "\n" + bodies.map { "\n" + $0 }.joined()
    }

    private func text(_ entity: Entity) -> String {
        let name = Self.exported(entity.name)
        var lines = ["// \(name) is an object of the entity \(entity.name)."]
        if entity.isAbstract { lines.append("// Abstract: all objects are of subentities.") }
        lines.append("type \(name) struct {")
        if let parent = entity.parent { lines.append("\t\(Self.exported(parent))") }
        let fields = fields(of: entity)
        let nameWidth = fields.map(\.name.count).max() ?? 0
        let typeWidth = fields.map(\.type.count).max() ?? 0
        for field in fields {
            let name = Self.padded(field.name, nameWidth)
            let type = Self.padded(field.type, typeWidth)
            lines.append("\t\(name) \(type) `larder:\"\(field.tag)\"`")
        }
        return (lines + ["}"]).joined(separator: "\n") + "\n"
    }

    /// The fields that the struct of an entity declares. A name gets an underscore if it is taken
    /// by the identifier or the version, or by a struct that this one embeds.
    private func fields(of entity: Entity) -> [Field] {
        var taken: Set<String> = []
        var fields: [Field] = []
        for ancestor in schema.lineage(of: entity) {
            fields = []
            if let parent = ancestor.parent {
                taken.insert(Self.exported(parent))
            } else {
                fields += [
                    Field(name: "ID", type: "larder.Identifier", tag: "@id"),
                    Field(name: "Version", type: "int64", tag: "@version"),
                ]
                taken.formUnion(fields.map(\.name))
            }
            for attribute in ancestor.declared.attributes {
                fields.append(
                    Field(
                        name: Self.exported(attribute.name, unless: &taken),
                        type: Self.type(of: attribute),
                        tag: attribute.name + (attribute.isDerived ? ",readonly" : "")))
            }
            for relationship in ancestor.declared.relationships {
                fields.append(
                    Field(
                        name: Self.exported(relationship.name, unless: &taken),
                        type: (relationship.isToMany ? "[]" : "") + "larder.Identifier",
                        tag: relationship.name))
            }
        }
        return fields
    }

    /// Nil is a nil pointer, or a nil slice.
    private static func type(of attribute: Attribute) -> String {
        let type = type(of: attribute.type)
        let isSlice = attribute.type == .data || attribute.type == .json
        return attribute.isOptional && !isSlice ? "*\(type)" : type
    }

    private static func type(of type: AttributeType) -> String {
        switch type {
        case .bool: "bool"
        case .int16: "int16"
        case .int32: "int32"
        case .int64: "int64"
        case .float: "float32"
        case .double: "float64"
        case .decimal: "larder.Decimal"
        case .string: "string"
        case .date: "time.Time"
        case .uuid: "larder.UUID"
        case .url: "larder.URL"
        case .data: "[]byte"
        case .json: "json.RawMessage"
        }
    }

    /// Schema names are of ASCII letters, digits and underscores, and begin with a letter.
    private static func exported(_ name: String) -> String {
        name.prefix(1).uppercased() + name.dropFirst()
    }

    private static func exported(_ name: String, unless taken: inout Set<String>) -> String {
        var exported = exported(name)
        while !taken.insert(exported).inserted { exported += "_" }
        return exported
    }

    private static func padded(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: width - text.count)
    }
}
