import LarderModel

/// Writes entities as model classes of SwiftData. Comments say what SwiftData cannot express.
struct SwiftModels {
    let schema: Schema
    let names: SwiftNames

    static func text(_ entities: [Entity], of schema: Schema) -> String {
        let models = SwiftModels(schema: schema, names: SwiftNames(schema))
        let source = "version \(schema.version) of the schema"
        let heading = ["// Written by `larder schema show --output swift` from \(source).", ""]
        let imports = ["Foundation", "SwiftData"].map { "import \($0)" }
        let head = (heading + imports + [""]).joined(separator: "\n")
        return head + entities.map { "\n" + models.text($0) }.joined()
    }

    private func text(_ entity: Entity) -> String {
        let name = SwiftNames.quoted(entity.name)
        let parent = entity.parent.map { ": \(SwiftNames.quoted($0))" } ?? ""
        let modifier = schema.hasSubentities(entity.name) ? "" : "final "
        var lines: [String] = []
        if entity.isAbstract { lines.append("// Abstract: all objects are of subentities.") }
        if entity.declared.recordsValues {
            lines.append("// The history has the values before each change.")
        }
        lines += comments(entity.originalName, entity.hashModifier)
        lines += ["@\(names.macro("Model"))", "\(modifier)class \(name)\(parent) {"]
        let parts = [
            lists(of: entity), entity.declared.attributes.flatMap(property),
            entity.declared.relationships.flatMap { property($0, of: entity) },
            initializer(of: entity),
        ]
        let body = parts.filter { !$0.isEmpty }.map { $0.map { "    " + $0 } }
        lines += body.joined(separator: [""])
        return (lines + ["}"]).joined(separator: "\n") + "\n"
    }

    private func comments(_ originalName: String?, _ hashModifier: String?) -> [String] {
        var lines: [String] = []
        if let originalName { lines.append("// The original name is \(originalName).") }
        if let hashModifier {
            lines.append("// The hash modifier is \(SwiftNames.literal(hashModifier)).")
        }
        return lines
    }

    /// The uniqueness constraints and indexes. Attributes marked `indexed` are among them.
    private func lists(of entity: Entity) -> [String] {
        let name = SwiftNames.quoted(entity.name)
        let derived = Set(entity.attributes.filter(\.isDerived).map(\.name))
        let indexes = entity.declared.indexes
        func macro(_ macro: String, _ lists: some Sequence<[String]>) -> [String] {
            let keyPaths = lists.map { list in
                "[\(list.map { "\\.\(SwiftNames.quoted($0))" }.joined(separator: ", "))]"
            }
            return keyPaths.isEmpty
                ? [] : ["#\(macro)<\(name)>(\(keyPaths.joined(separator: ", ")))"]
        }
        return macro("Unique", entity.listedConstraints)
            + macro("Index", indexes.filter { derived.isDisjoint(with: $0) })
            + indexes.filter { !derived.isDisjoint(with: $0) }.map {
                let list = $0.joined(separator: ", ")
                return "// Not in SwiftData: an index of a derived attribute (\(list))."
            }
    }

    private func property(_ attribute: Attribute) -> [String] {
        let name = SwiftNames.quoted(attribute.name)
        let type = names.type(of: attribute)
        if let derivation = attribute.derivation {
            return ["// Derived: \(name): \(type) = \(SwiftNames.comment(derivation))"]
        }
        var arguments: [String] = []
        if attribute.unique == .exact { arguments.append(".unique") }
        if attribute.preservesValueOnDeletion { arguments.append(".preserveValueOnDeletion") }
        arguments += origin(attribute.originalName)
        arguments += modifier(attribute.hashModifier)
        let value = attribute.defaultValue.map { " = " + names.literal($0, attribute.type) } ?? ""
        return bounds(of: attribute) + macro("Attribute", arguments)
            + ["var \(name): \(type)\(value)"]
    }

    private func bounds(of attribute: Attribute) -> [String] {
        let validation = attribute.validation
        var bounds: [String] = []
        if attribute.type == .json { bounds.append("a JSON document") }
        if attribute.unique == .insensitive { bounds.append("unique without case and accents") }
        if attribute.indexed == .insensitive { bounds.append("indexed without case and accents") }
        if attribute.search.contains(.parts) { bounds.append("indexed for searches") }
        if attribute.search.contains(.words) { bounds.append("indexed by words") }
        if let minimum = validation.minimum { bounds.append("minimum \(minimum.text)") }
        if let maximum = validation.maximum { bounds.append("maximum \(maximum.text)") }
        if let length = validation.minLength { bounds.append("minimum length \(length)") }
        if let length = validation.maxLength { bounds.append("maximum length \(length)") }
        if let pattern = validation.pattern {
            bounds.append("pattern \(SwiftNames.comment(pattern))")
        }
        if let scale = attribute.scale { bounds.append("scale \(scale)") }
        return bounds.isEmpty ? [] : ["// Not in SwiftData: \(bounds.joined(separator: ", "))."]
    }

    private func property(_ relationship: Relationship, of entity: Entity) -> [String] {
        let name = SwiftNames.quoted(relationship.name)
        var arguments: [String] = []
        if relationship.deleteRule != .nullify {
            arguments.append("deleteRule: .\(relationship.deleteRule.rawValue)")
        }
        let isRequired = relationship.isToMany && !relationship.isOptional
        let minimum = max(relationship.minCount, isRequired ? 1 : 0)
        if minimum > 0 { arguments.append("minimumModelCount: \(minimum)") }
        if relationship.maxCount > 0 {
            arguments.append("maximumModelCount: \(relationship.maxCount)")
        }
        arguments += origin(relationship.originalName)
        var comments: [String] = []
        if relationship.isOrdered { comments.append("// Not in SwiftData: ordered.") }
        if let inverse = schema.inverse(of: relationship) {
            let destination = relationship.destination
            if destination == entity.name, inverse.name == relationship.name {
                comments.append("// Not in SwiftData: the relationship is its own inverse.")
            } else if namesInverse(relationship, inverse, of: entity) {
                let path = "\(SwiftNames.quoted(destination)).\(SwiftNames.quoted(inverse.name))"
                arguments.append("inverse: \\\(path)")
            }
        }
        arguments += modifier(relationship.hashModifier)
        return comments + macro("Relationship", arguments)
            + ["var \(name): \(type(of: relationship))\(relationship.isToMany ? " = []" : "")"]
    }

    /// Whether the relationship names its inverse, which only one of the two may do: the to-many
    /// one if there is one of each kind, otherwise the first in the schema.
    private func namesInverse(
        _ relationship: Relationship, _ inverse: Relationship, of entity: Entity
    ) -> Bool {
        if relationship.isToMany != inverse.isToMany { return relationship.isToMany }
        if entity.name == relationship.destination {
            let own = entity.declared.relationships
            return own.first { $0.name == relationship.name || $0.name == inverse.name }
                == relationship
        }
        return schema.entities.first {
            $0.name == entity.name || $0.name == relationship.destination
        }?.name == entity.name
    }

    private func type(of relationship: Relationship) -> String {
        let name = SwiftNames.quoted(relationship.destination)
        if relationship.isToMany { return "[\(name)]" }
        return relationship.isOptional ? name + "?" : name
    }

    private func origin(_ originalName: String?) -> [String] {
        originalName.map { ["originalName: \(SwiftNames.literal($0))"] } ?? []
    }

    private func modifier(_ hashModifier: String?) -> [String] {
        hashModifier.map { ["hashModifier: \(SwiftNames.literal($0))"] } ?? []
    }

    private func macro(_ name: String, _ arguments: [String]) -> [String] {
        arguments.isEmpty ? [] : ["@\(names.macro(name))(\(arguments.joined(separator: ", ")))"]
    }

    /// An initializer with a parameter per property, those of the parent first.
    private func initializer(of entity: Entity) -> [String] {
        let inherited = entity.parent.flatMap { schema.entity(named: $0) }.map(parameters) ?? []
        let all = parameters(of: entity)
        let own = all.dropFirst(inherited.count)
        let list = all.map { "\($0.names): \($0.type)\($0.value.map { " = \($0)" } ?? "")" }
        let assignments = own.map { "    self.\($0.property) = \($0.variable)" }
        let arguments = inherited.map { "\($0.label): \($0.variable)" }.joined(separator: ", ")
        let initialization = entity.parent == nil ? [] : ["    super.init(\(arguments))"]
        // A subclass without parameters of its own overrides the initializer of its parent.
        let heading = entity.parent != nil && own.isEmpty ? "override init" : "init"
        let body = assignments + initialization
        if all.isEmpty, body.isEmpty { return ["\(heading)() {}"] }
        var lines = ["\(heading)(\(all.isEmpty ? ") {" : "")"]
        for (index, parameter) in list.enumerated() {
            lines.append("    \(parameter)\(index == list.count - 1 ? "" : ",")")
        }
        if !all.isEmpty { lines.append(") {") }
        return lines + body + ["}"]
    }

    private struct Parameter {
        let property: String
        /// The name in a call, where few keywords need backticks.
        let label: String
        /// The name in the body of the initializer.
        let variable: String
        let type: String
        let value: String?

        init(_ name: String, _ type: String, _ value: String?) {
            property = SwiftNames.quoted(name)
            label = SwiftNames.label(name)
            // A variable of the name `self` would hide the object.
            variable = name == "self" ? "_self" : property
            self.type = type
            self.value = value
        }

        var names: String { variable == property ? label : "\(label) \(variable)" }
    }

    /// The parameters of the initializer of an entity, in the order of its lineage.
    private func parameters(of entity: Entity) -> [Parameter] {
        schema.lineage(of: entity).flatMap { entity in
            entity.declared.attributes.filter { !$0.isDerived }.map { attribute in
                Parameter(
                    attribute.name, names.type(of: attribute),
                    attribute.defaultValue.map { names.literal($0, attribute.type) }
                        ?? (attribute.isOptional ? "nil" : nil))
            }
                + entity.declared.relationships.map { relationship in
                    Parameter(
                        relationship.name, type(of: relationship),
                        relationship.isToMany ? "[]" : relationship.isOptional ? "nil" : nil)
                }
        }
    }
}
