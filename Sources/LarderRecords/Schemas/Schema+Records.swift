extension Schema {
    /// The schema of record types, and of the types to which they have relationships.
    ///
    ///     let schema = try Schema(of: Book.self, Author.self)
    ///     try schema.fileText.write(toFile: "library.json", atomically: true, encoding: .utf8)
    ///
    /// - Throws: ``SchemaError`` with all problems, as for a schema file.
    public init(
        version: String = "1.0.0", of types: any EntityRecord.Type...
    ) throws(SchemaError) {
        try self.init(version: version, of: types)
    }

    /// The schema of record types, and of the types to which they have relationships.
    ///
    /// - Throws: ``SchemaError`` with all problems, as for a schema file.
    public init(
        version: String = "1.0.0", of types: [any EntityRecord.Type]
    ) throws(SchemaError) {
        var all: [any EntityRecord.Type] = []
        var pending = Array(types.reversed())
        while let type = pending.popLast() {
            guard !all.contains(where: { $0 == type }) else { continue }
            all.append(type)
            pending += type.relatedTypes.reversed()
        }
        let inverses = try InverseInference(all)
        try self.init(version: version, entities: all.map { $0.entity(inverses) })
    }
}

extension EntityRecord {
    /// The types of the parent and of the related objects.
    fileprivate static var relatedTypes: [any EntityRecord.Type] {
        let destinations = recordProperties.compactMap { property in
            if case .relationship(let type, _, _) = property.kind { type } else { nil }
        }
        return (entityOptions.parent.map { [$0] } ?? []) + destinations
    }

    /// The entity as the type declares it. Properties that an ancestor declares are left out.
    fileprivate static func entity(_ inverses: InverseInference) -> LarderModel.Entity {
        let inherited = Set(entityOptions.parent?.propertyNames ?? [])
        let properties = recordProperties.filter { !inherited.contains($0.name) }
        return LarderModel.Entity(
            name: entityName, attributes: properties.compactMap(\.attribute),
            relationships: properties.compactMap { property in
                property.relationship(inverse: inverses.inverse(of: property, in: self))
            },
            uniquenessConstraints: entityOptions.unique.map(names),
            indexes: entityOptions.indexes.map(names),
            wordIndexes: entityOptions.search.map(names),
            parent: entityOptions.parent?.entityName,
            originalName: entityOptions.originalName, hashModifier: entityOptions.hashModifier)
    }

    private static func names(of keyPaths: [any AnyKeyPath & Sendable]) -> [String] {
        keyPaths.map { keyPath in property(of: keyPath)?.name ?? "\(keyPath)" }
    }

}

extension RecordProperty {
    fileprivate var attribute: LarderModel.Attribute? {
        guard case .attribute(let type, let isOptional) = kind else { return nil }
        var validation = LarderModel.Attribute.Validation()
        var derivation: String?
        var unique: LarderModel.Attribute.Matching?
        var indexed: LarderModel.Attribute.Matching?
        var search: LarderModel.Attribute.SearchIndexes = []
        var preserves = false
        for option in options.attribute {
            switch option {
            case .unique: unique = unique ?? .exact
            case .uniqueInsensitively: unique = .insensitive
            case .indexed: indexed = indexed ?? .exact
            case .indexedInsensitively: indexed = .insensitive
            case .search: search.insert(.parts)
            case .searchWords: search.insert(.words)
            case .preserveValueOnDeletion: preserves = true
            case .derived(let expression): derivation = expression
            case .minimum(let value): validation.minimum = value
            case .maximum(let value): validation.maximum = value
            case .minLength(let length): validation.minLength = length
            case .maxLength(let length): validation.maxLength = length
            case .pattern(let pattern): validation.pattern = pattern
            }
        }
        return LarderModel.Attribute(
            name: name, type: type, isOptional: isOptional, defaultValue: defaultValue,
            unique: unique, indexed: indexed, search: search, preservesValueOnDeletion: preserves,
            derivation: derivation, originalName: options.originalName,
            hashModifier: options.hashModifier, validation: validation)
    }

    fileprivate func relationship(inverse: String?) -> LarderModel.Relationship? {
        guard case .relationship(let type, let isToMany, let isOptional) = kind else { return nil }
        return LarderModel.Relationship(
            name: name, destination: type.entityName, isToMany: isToMany,
            isOrdered: options.isOrdered, isOptional: isOptional,
            inverse: inverse,
            deleteRule: options.deleteRule, minCount: options.minCount,
            maxCount: options.maxCount, originalName: options.originalName,
            hashModifier: options.hashModifier)
    }
}
