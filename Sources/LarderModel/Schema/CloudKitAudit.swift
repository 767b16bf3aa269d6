/// Finds features of a schema that Larder supports and CloudKit does not.
public enum CloudKitAudit {
    /// The problems, each with its path in the schema file, from top to bottom; empty if the schema
    /// can be mirrored to CloudKit.
    public static func problems(in schema: Schema) -> [SchemaError.Problem] {
        schema.entities.enumerated().flatMap { index, entity in
            problems(in: entity, at: SchemaPath.root["entities"][index])
        }
    }

    private static func problems(in entity: Entity, at path: SchemaPath) -> [SchemaError.Problem] {
        var problems: [LocatedProblem] = []
        for (index, attribute) in entity.declared.attributes.enumerated() {
            let path = path["attributes"][index]
            let name = "`\(entity.name).\(attribute.name)`"
            if !attribute.isOptional, attribute.defaultValue == nil {
                problems.append(
                    LocatedProblem(
                        path: path, message: "\(name) must be optional or have a default"))
            }
            if attribute.isUnique {
                problems.append(
                    LocatedProblem(path: path["unique"], message: "\(name) must not be unique"))
            }
        }
        for (index, relationship) in entity.declared.relationships.enumerated() {
            let path = path["relationships"][index]
            let name = "`\(entity.name).\(relationship.name)`"
            if !relationship.isOptional {
                problems.append(
                    LocatedProblem(path: path["optional"], message: "\(name) must be optional"))
            }
            if relationship.inverse == nil {
                problems.append(LocatedProblem(path: path, message: "\(name) must have an inverse"))
            }
            if relationship.isOrdered {
                problems.append(
                    LocatedProblem(path: path["ordered"], message: "\(name) must not be ordered"))
            }
        }
        let fromAttributes = entity.declared.attributes.count(where: \.isUnique)
        let lists = entity.declared.uniquenessConstraints.dropFirst(fromAttributes)
        for (index, list) in lists.enumerated() {
            let names = list.joined(separator: ", ")
            problems.append(
                LocatedProblem(
                    path: path["unique"][index],
                    message: "`\(entity.name)` must not have a unique constraint (\(names))"))
        }
        return problems.map(\.problem)
    }
}
