/// What CloudKit would refuse of a schema that Larder accepts.
public enum CloudKitAudit {
    /// Every refusal with its place in the schema file, from top to bottom; none if a schema may
    /// be mirrored to CloudKit.
    public static func faults(in schema: Schema) -> [SchemaError.Fault] {
        schema.entities.enumerated().flatMap { place, entity in
            faults(in: entity, at: SchemaPath.root["entities"][place])
        }
    }

    private static func faults(in entity: Entity, at path: SchemaPath) -> [SchemaError.Fault] {
        var faults: [LocatedFault] = []
        for (place, attribute) in entity.declared.attributes.enumerated() {
            let path = path["attributes"][place]
            let name = "`\(entity.name).\(attribute.name)`"
            if !attribute.isOptional, attribute.defaultValue == nil {
                faults.append(
                    LocatedFault(path: path, message: "\(name) is neither optional nor defaulted"))
            }
            if attribute.isUnique {
                faults.append(LocatedFault(path: path["unique"], message: "\(name) is unique"))
            }
        }
        for (place, relationship) in entity.declared.relationships.enumerated() {
            let path = path["relationships"][place]
            let name = "`\(entity.name).\(relationship.name)`"
            if !relationship.isOptional {
                faults.append(
                    LocatedFault(path: path["optional"], message: "\(name) is not optional"))
            }
            if relationship.inverse == nil {
                faults.append(LocatedFault(path: path, message: "\(name) has no inverse"))
            }
            if relationship.isOrdered {
                faults.append(LocatedFault(path: path["ordered"], message: "\(name) is ordered"))
            }
        }
        let fromAttributes = entity.declared.attributes.count(where: \.isUnique)
        let lists = entity.declared.uniquenessConstraints.dropFirst(fromAttributes)
        for (place, list) in lists.enumerated() {
            let names = list.joined(separator: ", ")
            faults.append(
                LocatedFault(
                    path: path["unique"][place], message: "`\(entity.name)`: \(names) are unique"))
        }
        return faults.map(\.fault)
    }
}
