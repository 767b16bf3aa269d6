import LarderModel

/// Writes entities as dataclasses of Python, for the package `larder`.
struct PythonModels {
    let schema: Schema

    /// The module with the classes of the entities. Their parents precede them.
    static func text(_ entities: [Entity], of schema: Schema) -> String {
        let models = PythonModels(schema: schema)
        var written: Set<String> = []
        let lineages = entities.flatMap { schema.lineage(of: $0) }
        let classes = lineages.filter { written.insert($0.name).inserted }.map(models.text)
        let body = classes.joined(separator: "\n\n\n")
        let source = "version \(schema.version) of the schema"
        let heading = "\"\"\"Written by `larder schema show --output python` from \(source).\"\"\""
        let modules = ["datetime", "decimal", "json", "uuid"].filter { body.contains($0 + ".") }
        let dataclasses = body.contains("field(") ? "dataclass, field" : "dataclass"
        let imports = modules.map { "import \($0)" } + ["from dataclasses import \(dataclasses)"]
        return [heading, imports.joined(separator: "\n"), "import larder"]
            .joined(separator: "\n\n") + "\n\n\n" + body + "\n"
    }

    private func text(_ entity: Entity) -> String {
        let parent = entity.parent.map(PythonNames.escaped) ?? "larder.Record"
        let description =
            entity.isAbstract
            ? "Abstract: all objects are of subentities."
            : "An object of the entity \(entity.name)."
        let head = [
            "@dataclass(kw_only=True)",
            "class \(PythonNames.escaped(entity.name))(\(parent)):",
            "    \"\"\"\(description)\"\"\"",
        ]
        let fields =
            entity.declared.attributes.flatMap(field) + entity.declared.relationships.map(field)
        let body = fields.map { "    " + $0 }
        return (head + (body.isEmpty ? [] : [""]) + body).joined(separator: "\n")
    }

    private func field(_ attribute: Attribute) -> [String] {
        let line = "\(PythonNames.escaped(attribute.name)): \(PythonNames.type(of: attribute))"
        if attribute.isDerived {
            return [line + " = field(default=None, metadata={\"derived\": True})"]
        }
        guard let value = attribute.defaultValue else {
            return [line + (attribute.isOptional ? " = None" : "")]
        }
        guard let literal = PythonNames.literal(value) else {
            return ["# Python has no date for the default \(value.text).", line]
        }
        return [line + " = " + literal]
    }

    private func field(_ relationship: Relationship) -> String {
        let name = PythonNames.escaped(relationship.name)
        if relationship.isToMany {
            return "\(name): list[larder.Identifier] = field(default_factory=list)"
        }
        return relationship.isOptional
            ? "\(name): larder.Identifier | None = None" : "\(name): larder.Identifier"
    }
}
