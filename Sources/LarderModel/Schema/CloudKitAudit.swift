internal import CloudKitRules

/// Finds features of a schema that Larder supports and CloudKit does not.
package enum CloudKitAudit {
    /// The problems, each with its path in the schema file, from top to bottom; empty if the schema
    /// can be mirrored to CloudKit.
    package static func problems(in schema: Schema) -> [SchemaError.Problem] {
        schema.entities.enumerated().flatMap { index, entity in
            problems(in: entity, at: SchemaPath.root["entities"][index])
        }
    }

    private static func problems(in entity: Entity, at path: SchemaPath) -> [SchemaError.Problem] {
        var problems: [LocatedProblem] = []
        func add(_ problem: CloudKitProblem, about subject: String, at path: SchemaPath) {
            problems.append(LocatedProblem(path: path, message: problem.sentence(about: subject)))
        }
        for (index, attribute) in entity.declared.attributes.enumerated() {
            let path = path["attributes"][index]
            let found = CloudKitProblem.ofAttribute(
                isOptional: attribute.isOptional, hasDefault: attribute.defaultValue != nil)
            for problem in found {
                add(problem, about: "\(entity.name).\(attribute.name)", at: path)
            }
            if attribute.isUnique {
                add(.unique([attribute.name]), about: entity.name, at: path["unique"])
            }
        }
        for (index, relationship) in entity.declared.relationships.enumerated() {
            let path = path["relationships"][index]
            let found = CloudKitProblem.ofRelationship(
                isOptional: relationship.isOptional, hasInverse: relationship.inverse != nil,
                isOrdered: relationship.isOrdered, isDenied: relationship.deleteRule == .deny)
            for problem in found {
                add(
                    problem, about: "\(entity.name).\(relationship.name)",
                    at: problem.key.map { path[$0] } ?? path)
            }
        }
        let fromAttributes = entity.declared.attributes.count(where: \.isUnique)
        let lists = entity.declared.uniquenessConstraints.dropFirst(fromAttributes)
        for (index, list) in lists.enumerated() {
            add(.unique(list), about: entity.name, at: path["unique"][index])
        }
        return problems.map(\.problem)
    }
}

extension CloudKitProblem {
    /// The key of a relationship in the schema file that has the problem; nil for a missing one.
    fileprivate var key: String? {
        switch self {
        case .requiredRelationship: "optional"
        case .ordered: "ordered"
        case .denyRule: "deleteRule"
        case .withoutInverse, .requiredAttribute, .unique: nil
        }
    }
}
