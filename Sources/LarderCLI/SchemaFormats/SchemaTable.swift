import LarderModel

/// Prints entities with their own properties, constraints and indexes as rows. Inherited ones are
/// printed with the parent.
enum SchemaTable {
    private static let columns = ["name", "kind", "type", "optional", "default", "details"]

    /// Prints a heading and a table per entity.
    static func print(_ entities: [Entity]) throws(LarderError) {
        for (index, entity) in entities.enumerated() {
            var output = StandardOutput()
            var heading = entity.name
            if let parent = entity.parent { heading += ", subentity of \(parent)" }
            let details = details(of: entity)
            if !details.isEmpty { heading += " (\(details.joined(separator: ", ")))" }
            heading = TerminalWindow.wrapped(EscapedText.escaped(heading))
            try output.write((index == 0 ? "" : "\n") + heading + "\n")
            let rows = rows(of: entity)
            guard !rows.isEmpty else {
                try output.write(TerminalWindow.wrapped("no properties of its own") + "\n")
                try output.flush()
                continue
            }
            try output.flush()
            var writer = TableWriter(overflow: .wrapsLastColumn)
            try writer.write(all: rows, names: columns)
        }
    }

    /// Prints each row after the name of its entity. The row of the entity itself comes first; its
    /// type is the parent.
    static func printPlain(_ entities: [Entity]) throws(LarderError) {
        var writer = PlainWriter()
        try writer.begin(["entity"] + columns)
        for entity in entities {
            let name = Value.string(entity.name)
            try writer.write([
                name, name, "entity", entity.parent.map { .string($0) } ?? .null, .null, .null,
                text(details(of: entity)),
            ])
            for row in rows(of: entity) { try writer.write([name] + row) }
        }
        try writer.end()
    }

    private static func rows(of entity: Entity) -> [[Value]] {
        let declared = entity.declared
        return declared.attributes.map(row) + declared.relationships.map(row)
            + entity.listedConstraints.map { row($0, "unique") }
            + entity.listedIndexes.map { row($0, "index") }
            + entity.listedWordIndexes.map { row($0, "search") }
    }

    private static func row(_ attribute: Attribute) -> [Value] {
        [
            .string(attribute.name), "attribute", .string(attribute.type.rawValue),
            attribute.isOptional ? "yes" : .null,
            attribute.defaultValue.map(defaultText) ?? .null, text(details(of: attribute)),
        ]
    }

    /// Strings are quoted, so that an empty one is not like none.
    private static func defaultText(_ value: Value) -> Value {
        if case .string(let text) = value { return .string("\"\(text)\"") }
        return .string(value.text)
    }

    private static func row(_ relationship: Relationship) -> [Value] {
        let cardinality = relationship.isToMany ? "to-many" : "to-one"
        return [
            .string(relationship.name),
            .string(relationship.isOrdered ? "ordered to-many" : cardinality),
            .string(relationship.destination), relationship.isOptional ? "yes" : .null, .null,
            text(details(of: relationship)),
        ]
    }

    private static func row(_ names: [String], _ kind: Value) -> [Value] {
        [.string(names.joined(separator: ", ")), kind, .null, .null, .null, .null]
    }

    private static func details(of entity: Entity) -> [String] {
        (entity.isAbstract ? ["abstract"] : [])
            + (entity.declared.recordsValues ? ["history with values"] : [])
            + origin(entity.originalName, entity.hashModifier)
    }

    private static func details(of attribute: Attribute) -> [String] {
        let validation = attribute.validation
        var details: [String] = []
        let insensitively = " without case and accents"
        if attribute.isUnique {
            details.append("unique" + (attribute.unique == .insensitive ? insensitively : ""))
        }
        if attribute.indexed == .exact { details.append("indexed") }
        if attribute.indexed == .insensitive { details.append("indexed" + insensitively) }
        if attribute.search.contains(.parts) { details.append("indexed for searches") }
        if attribute.search.contains(.words) { details.append("indexed by words") }
        if let derivation = attribute.derivation { details.append("derived from \(derivation)") }
        if let minimum = validation.minimum { details.append("minimum \(minimum.text)") }
        if let maximum = validation.maximum { details.append("maximum \(maximum.text)") }
        if let length = validation.minLength { details.append("minimum length \(length)") }
        if let length = validation.maxLength { details.append("maximum length \(length)") }
        if let pattern = validation.pattern { details.append("pattern \(pattern)") }
        if let scale = attribute.scale { details.append("scale \(scale)") }
        if attribute.preservesValueOnDeletion { details.append("preserved on deletion") }
        return details + origin(attribute.originalName, attribute.hashModifier)
    }

    private static func details(of relationship: Relationship) -> [String] {
        var details: [String] = []
        if let inverse = relationship.inverse { details.append("inverse \(inverse)") }
        details.append("delete rule \(relationship.deleteRule.rawValue)")
        if relationship.minCount > 0 { details.append("minimum count \(relationship.minCount)") }
        if relationship.maxCount > 0 { details.append("maximum count \(relationship.maxCount)") }
        return details + origin(relationship.originalName, relationship.hashModifier)
    }

    private static func origin(_ originalName: String?, _ hashModifier: String?) -> [String] {
        [originalName.map { "original name \($0)" }, hashModifier.map { "hash modifier \($0)" }]
            .compactMap(\.self)
    }

    private static func text(_ details: [String]) -> Value {
        details.isEmpty ? .null : .string(details.joined(separator: ", "))
    }
}

extension Entity {
    /// The entity's own uniqueness constraints, except those of attributes marked `unique`.
    var listedConstraints: ArraySlice<[String]> {
        declared.uniquenessConstraints.dropFirst(declared.attributes.count(where: \.isUnique))
    }

    /// The entity's own indexes of words, except those of attributes marked `search`.
    var listedWordIndexes: ArraySlice<[String]> {
        declared.wordIndexes.dropFirst(
            declared.attributes.count { $0.search.contains(.words) })
    }

    /// The entity's own indexes, except those of attributes marked `indexed`.
    var listedIndexes: ArraySlice<[String]> {
        declared.indexes.dropFirst(declared.attributes.count { $0.indexed == .exact })
    }
}
