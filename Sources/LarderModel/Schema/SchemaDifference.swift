/// A difference between two schemas, as a sentence.
///
/// The order of entities, properties and lists is ignored, and so is whether a single-property
/// constraint is declared at the attribute or at the entity. Original names are ignored too: they
/// describe how a schema came from an earlier one, not the objects that it allows.
package struct SchemaDifference: Hashable, Sendable, CustomStringConvertible {
    /// `Article.title: type is string in the store, int64 in the file`.
    package let description: String

    /// The differences between the schema of a store and that of a file, in the order of the
    /// store's.
    package static func differences(from store: Schema, to file: Schema) -> [SchemaDifference] {
        var sentences: [String] = []
        if store.version != file.version {
            sentences.append(
                "version is \(store.version) in the store, \(file.version) in the file")
        }
        for entity in store.entities {
            if let other = file.entity(named: entity.name) {
                sentences += differences(from: entity, to: other)
            } else {
                sentences.append("\(entity.name): entity is in the store, not in the file")
            }
        }
        for entity in file.entities where store.entity(named: entity.name) == nil {
            sentences.append("\(entity.name): entity is in the file, not in the store")
        }
        return sentences.map(SchemaDifference.init)
    }

    private static func differences(from store: Entity, to file: Entity) -> [String] {
        var sentences: [String] = []
        for (facet, other) in zip(store.facets, file.facets) where facet != other {
            sentences.append(
                "\(store.name): \(facet.name) is \(facet.value) in the store, "
                    + "\(other.value) in the file")
        }
        for name in store.propertyNames {
            guard let own = store.declaredProperty(named: name) else { continue }
            guard let other = file.declaredProperty(named: name) else {
                sentences.append("\(store.name).\(name): is in the store, not in the file")
                continue
            }
            for (facet, other) in zip(own.facets, other.facets) where facet != other {
                sentences.append(
                    "\(store.name).\(name): \(facet.name) is \(facet.value) in the store, "
                        + "\(other.value) in the file")
                // Attributes and relationships have no facets in common.
                if facet.name == Facet.kindName { break }
            }
        }
        for name in file.propertyNames where store.declaredProperty(named: name) == nil {
            sentences.append("\(store.name).\(name): is in the file, not in the store")
        }
        let (own, other) = (store.lists, file.lists)
        for list in own where !other.contains(list) {
            sentences.append("\(store.name): \(list) is in the store, not in the file")
        }
        for list in other where !own.contains(list) {
            sentences.append("\(store.name): \(list) is in the file, not in the store")
        }
        return sentences
    }
}

/// One aspect of a property's declaration, as text.
struct Facet: Hashable {
    static let kindName = "kind"
    static let historyName = "history"
    static let scaleName = "scale"
    /// The default values of facets that were added after the first version.
    static let laterDefaults = [
        "minCount": "0", "maxCount": "0", "preserveValueOnDeletion": "false",
        "derived": "none", "hashModifier": "none", scaleName: "none",
    ]

    let name: String
    let value: String

    init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }

    init(_ name: String, _ value: Value?) {
        self.init(name, value?.jsonValue.text ?? "none")
    }

    init(_ name: String, _ value: Int?) {
        self.init(name, value?.description ?? "none")
    }
}

extension Property {
    /// The facets of the property, except for constraints and indexes.
    var facets: [Facet] {
        switch self {
        case .attribute(let attribute):
            let validation = attribute.validation
            return [
                Facet(Facet.kindName, "attribute"), Facet("type", attribute.type.rawValue),
                Facet("optional", "\(attribute.isOptional)"),
                Facet("default", attribute.defaultValue), Facet("minimum", validation.minimum),
                Facet("maximum", validation.maximum), Facet("minLength", validation.minLength),
                Facet("maxLength", validation.maxLength),
                Facet("pattern", validation.pattern.map { .string($0) }),
                Facet(Facet.scaleName, attribute.scale),
                Facet("preserveValueOnDeletion", "\(attribute.preservesValueOnDeletion)"),
                Facet("derived", attribute.derivation.map { .string($0) }),
                Facet("hashModifier", attribute.hashModifier.map { .string($0) }),
            ]
        case .relationship(let relationship):
            return [
                Facet(Facet.kindName, "relationship"),
                Facet("destination", relationship.destination),
                Facet("toMany", "\(relationship.isToMany)"),
                Facet("ordered", "\(relationship.isOrdered)"),
                Facet("optional", "\(relationship.isOptional)"),
                Facet("inverse", relationship.inverse ?? "none"),
                Facet("deleteRule", relationship.deleteRule.rawValue),
                Facet("minCount", relationship.minCount),
                Facet("maxCount", relationship.maxCount),
                Facet("hashModifier", relationship.hashModifier.map { .string($0) }),
            ]
        }
    }
}

/// Facets of an entity's own declaration; inherited ones belong to the parent.
extension Entity {
    var facets: [Facet] {
        [
            Facet("parent", parent ?? "none"), Facet("abstract", "\(isAbstract)"),
            Facet("hashModifier", hashModifier.map { .string($0) }),
            Facet(
                Facet.historyName, declared.recordsValues ? SchemaKey.values : SchemaKey.changes),
        ]
    }

    var propertyNames: [String] {
        declared.attributes.map(\.name) + declared.relationships.map(\.name)
    }

    func declaredProperty(named name: String) -> Property? {
        parent == nil || propertyNames.contains(name) ? property(named: name) : nil
    }

    /// Constraints and indexes as text, with other names of the properties.
    func lists(renamed: (String) -> String) -> [String] {
        declared.uniquenessConstraints.map { names in
            "unique (\(names.map(renamed).sorted().joined(separator: ", ")))"
                + (declared.isInsensitive(names) ? " without case and accents" : "")
        }
            + declared.indexes.map { "index (\($0.map(renamed).joined(separator: ", ")))" }
            + declared.attributes.filter { $0.indexed == .insensitive }.map {
                "index (\(renamed($0.name))) without case and accents"
            }
            + declared.attributes.filter { $0.search.contains(.parts) }.map {
                "index (\(renamed($0.name))) for searches"
            }
            + declared.wordIndexes.map { names in
                "index (\(names.map(renamed).joined(separator: ", "))) for searches by words"
            }
    }

    /// Constraints and indexes as text: `unique (title, collection)`.
    var lists: [String] {
        lists { $0 }
    }
}
