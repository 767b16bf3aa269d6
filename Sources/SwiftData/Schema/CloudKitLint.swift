extension Schema {
    /// What CloudKit refuses in the schema: attributes that are neither optional nor have a default
    /// value in their declaration, relationships that are not optional or have no inverse, and
    /// uniqueness constraints. Empty if the schema can be synchronized.
    ///
    /// The sentences are in the order of the entities and their properties.
    public var cloudKitProblems: [String] {
        entities.flatMap { entity in
            entity.storedProperties.flatMap { entity.cloudKitProblems(with: $0) }
                + entity.uniquenessConstraints.map { names in
                    "`\(entity.name)` must not have a unique constraint "
                        + "(\(names.joined(separator: ", ")))"
                }
        }
    }
}

extension Schema.Entity {
    fileprivate func cloudKitProblems(with property: any SchemaProperty) -> [String] {
        let name = "`\(self.name).\(property.name)`"
        switch property {
        case let attribute as Schema.Attribute:
            guard !attribute.isOptional, attribute.defaultValue == nil else { return [] }
            return ["\(name) must be optional or have a default value in its declaration"]
        case let relationship as Schema.Relationship:
            var problems: [String] = []
            if !relationship.isOptional { problems.append("\(name) must be optional") }
            if relationship.inverseName == nil { problems.append("\(name) must have an inverse") }
            if relationship.deleteRule == .deny {
                problems.append("\(name) must not have the delete rule `deny`")
            }
            return problems
        default: return []
        }
    }
}
