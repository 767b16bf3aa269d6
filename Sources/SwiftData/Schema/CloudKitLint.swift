internal import CloudKitRules

extension Schema {
    /// The parts of the schema that CloudKit refuses: attributes that are neither optional nor have
    /// a default value in their declaration, relationships that are not optional or have no
    /// inverse, the delete rule `deny`, and uniqueness constraints. Empty if the schema can be
    /// synchronized.
    ///
    /// The sentences are in the order of the entities and their properties. A test of an app has
    /// them all:
    ///
    ///     #expect(Schema(CurrentScheme.models).cloudKitProblems == [])
    public var cloudKitProblems: [String] {
        entities.flatMap { entity in
            entity.ownProperties.flatMap { entity.cloudKitProblems(with: $0) }
                + entity.uniquenessConstraints.map {
                    CloudKitProblem.unique($0).sentence(about: entity.name)
                }
        }
    }
}

extension Schema.Entity {
    fileprivate func cloudKitProblems(with property: any SchemaProperty) -> [String] {
        let problems: [CloudKitProblem]
        switch property {
        case let attribute as Schema.Attribute:
            problems = CloudKitProblem.ofAttribute(
                isOptional: attribute.isOptional, hasDefault: attribute.defaultValue != nil)
        case let relationship as Schema.Relationship:
            problems = CloudKitProblem.ofRelationship(
                isOptional: relationship.isOptional,
                hasInverse: relationship.inverseName != nil,
                isDenied: relationship.deleteRule == .deny)
        default: problems = []
        }
        return problems.map { $0.sentence(about: "\(name).\(property.name)") }
    }
}
