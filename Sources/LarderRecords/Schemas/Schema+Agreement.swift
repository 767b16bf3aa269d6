extension StoreClient {
    /// Checks that the store has the entities and properties of record types, with their types.
    /// The store may have more.
    ///
    /// - Throws: `schemaMismatch` with every difference; errors of the connection.
    public func verify(_ types: any EntityRecord.Type...) throws(LarderError) {
        try schema().verify(types)
    }

    /// The asynchronous form of `verify(_:)`, which throws the same
    /// errors.
    public func verify(_ types: any EntityRecord.Type...) async throws(LarderError) {
        try await schema().verify(types)
    }
}

extension Schema {
    fileprivate func verify(_ types: [any EntityRecord.Type]) throws(LarderError) {
        let problems = types.flatMap { $0.differences(from: self) }
        guard !problems.isEmpty else { return }
        throw LarderError(
            .schemaMismatch, "the store's schema \(version) differs from the record types",
            hint: "migrate the store, or change the types; see docs/migration.md",
            problems: problems)
    }
}

extension EntityRecord {
    fileprivate static func differences(from schema: Schema) -> [String] {
        guard let entity = schema.entity(named: entityName) else {
            return ["the store has no entity \(entityName)"]
        }
        return recordProperties.compactMap { property in
            let name = "\(entityName).\(property.name)"
            guard let stored = entity.property(named: property.name) else {
                return "the store has no property \(name)"
            }
            let (expected, found) = (property.description, stored.description)
            return expected == found ? nil : "\(name) is \(found) in the store, not \(expected)"
        }
    }
}

extension RecordProperty {
    fileprivate var description: String {
        switch kind {
        case .attribute(let type, let isOptional): attributeDescription(type, isOptional)
        case .relationship(let type, let isToMany, let isOptional):
            relationshipDescription(type.entityName, isToMany, isOptional)
        }
    }
}

extension Property {
    fileprivate var description: String {
        switch self {
        case .attribute(let attribute):
            attributeDescription(attribute.type, attribute.isOptional)
        case .relationship(let relationship):
            relationshipDescription(
                relationship.destination, relationship.isToMany, relationship.isOptional)
        }
    }
}

private func attributeDescription(_ type: AttributeType, _ isOptional: Bool) -> String {
    "\(isOptional ? "optional " : "")\(type.rawValue)"
}

private func relationshipDescription(
    _ destination: String, _ isToMany: Bool, _ isOptional: Bool
) -> String {
    // An array may be empty, whatever the schema says.
    if isToMany { return "a to-many relationship to \(destination)" }
    return "\(isOptional ? "an optional" : "a required") to-one relationship to \(destination)"
}
