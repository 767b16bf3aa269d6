/// Finds what a migration cannot infer from two schemas, whatever the data is.
///
/// Faults of the data, such as values that a narrower type does not hold, are found by the
/// migration itself.
struct MappingCheck {
    let mapping: SchemaMapping
    let permitsEarlierVersion: Bool
    private(set) var problems: [LocatedProblem] = []

    init(mapping: SchemaMapping, permitsEarlierVersion: Bool) {
        self.mapping = mapping
        self.permitsEarlierVersion = permitsEarlierVersion
    }

    mutating func run() {
        if !permitsEarlierVersion { checkVersion() }
        for entity in mapping.new.entities {
            checkTable(of: entity)
            guard let origin = mapping.origin(of: entity) else { continue }
            for attribute in entity.attributes {
                check(attribute, of: entity, origin)
            }
            for relationship in entity.relationships {
                check(relationship, of: entity)
            }
        }
    }

    /// Inherited properties have the path of their declaration, and are reported once.
    private mutating func report(_ path: SchemaPath, _ message: String) {
        let problem = LocatedProblem(path: path, message: message)
        if !problems.contains(problem) { problems.append(problem) }
    }

    private mutating func checkVersion() {
        guard mapping.new.isEarlier(than: mapping.old) else { return }
        let (old, new) = (mapping.old.version, mapping.new.version)
        report(
            SchemaPath.root["version"],
            "\(new) is older than the store's schema, \(old), and a store is not migrated "
                + "backward without a plan; use the schema of version \(old) or a later one, or a "
                + "plan with a stage that leads back")
    }

    /// Keys are distinct within a table only, so the rows of two tables cannot become one table's.
    private mutating func checkTable(of root: Entity) {
        guard root.parent == nil else { return }
        let kinds = [root] + mapping.new.subentities(of: root.name)
        var tables: [String] = []
        for kind in kinds {
            guard let origin = mapping.origin(of: kind) else { continue }
            let table = mapping.old.root(of: origin).name
            if !tables.contains(table) { tables.append(table) }
        }
        guard tables.count > 1 else { return }
        report(
            mapping.path(of: root),
            "\(root.name) and its subentities continue objects of several hierarchies "
                + "(\(tables.joined(separator: ", "))), whose keys are not distinct; "
                + "insert the objects again in a custom stage")
    }

    // MARK: Attributes

    private mutating func check(_ attribute: Attribute, of entity: Entity, _ origin: Entity) {
        let path = mapping.path(of: attribute.name, in: entity)
        let name = "\(entity.name).\(attribute.name)"
        switch mapping.origin(of: attribute.name, in: entity) {
        case .attribute(let former):
            guard attribute.isDerived || attribute.type.canHoldValues(of: former.type) else {
                return report(
                    path["type"],
                    "\(name) changes from \(former.type.rawValue) to \(attribute.type.rawValue), "
                        + "and values of one are not converted to the other; give the new "
                        + "attribute another name, and convert the values in a custom stage")
            }
        case .relationship:
            report(
                path,
                "\(name) was a relationship and becomes an attribute; give it another name")
        case nil:
            if attribute.isOptional || attribute.defaultValue != nil || attribute.isDerived {
                return
            }
            report(
                path,
                "\(name) is required and has no default, so that existing objects would have no "
                    + "value; give it a default, or make it optional")
        }
    }

    // MARK: Relationships

    private mutating func check(_ relationship: Relationship, of entity: Entity) {
        let path = mapping.path(of: relationship.name, in: entity)
        let name = "\(entity.name).\(relationship.name)"
        switch mapping.origin(of: relationship.name, in: entity) {
        case .relationship(let former):
            checkDestination(of: relationship, former, path, name)
            checkInverse(of: relationship, former, in: entity, path, name)
        case .attribute:
            report(
                path, "\(name) was an attribute and becomes a relationship; give it another name")
        case nil:
            // Its objects may come from the inverse, if that is continued.
            guard !relationship.isOptional, inverseOrigin(of: relationship) == nil else { return }
            report(
                path["optional"],
                "\(name) is required, so that existing objects would have too few objects; make it "
                    + "optional, and set it in a custom stage")
        }
    }

    /// Each object that could be related still has to be one of the destination's.
    private mutating func checkDestination(
        of relationship: Relationship, _ former: Relationship, _ path: SchemaPath, _ name: String
    ) {
        let formerKinds =
            [former.destination]
            + mapping.old.subentities(of: former.destination).map(\.name)
        for kind in formerKinds {
            guard let entity = mapping.old.entity(named: kind),
                let successor = mapping.successor(of: entity),
                !mapping.new.isKind(successor.name, of: relationship.destination)
            else { continue }
            return report(
                path["destination"],
                "\(name) led to \(former.destination), whose objects of \(kind) are not objects of "
                    + "\(relationship.destination); give the new relationship another name")
        }
        guard let entity = mapping.old.entity(named: former.destination),
            mapping.successor(of: entity) == nil,
            mapping.new.entity(named: relationship.destination)
                .flatMap({ mapping.origin(of: $0) }) != nil
        else { return }
        guard
            mapping.old.subentities(of: former.destination)
                .allSatisfy({ mapping.successor(of: $0) == nil })
        else { return }
        report(
            path["destination"],
            "\(name) led to \(former.destination), which is removed; give the new relationship "
                + "another name")
    }

    /// The links of two relationships that were independent of each other cannot become one set.
    private mutating func checkInverse(
        of relationship: Relationship, _ former: Relationship, in entity: Entity,
        _ path: SchemaPath, _ name: String
    ) {
        let isSelfInverse = isOwnInverse(relationship, of: entity, in: mapping.new)
        let wasSelfInverse =
            mapping.origin(of: entity).map { isOwnInverse(former, of: $0, in: mapping.old) }
            ?? false
        guard isSelfInverse == wasSelfInverse else {
            return report(
                path["inverse"],
                isSelfInverse
                    ? "\(name) becomes its own inverse; set both directions in a custom stage"
                    : "\(name) was its own inverse; give the new relationship another name")
        }
        guard let inverse = relationship.inverse, let origin = inverseOrigin(of: relationship),
            former.inverse != origin.name
        else { return }
        report(
            path["inverse"],
            "\(name) and \(relationship.destination).\(inverse) were not inverses of each other, "
                + "so that their objects may differ; give one of them another name")
    }

    private func isOwnInverse(
        _ relationship: Relationship, of entity: Entity, in schema: Schema
    ) -> Bool {
        relationship.inverse == relationship.name
            && relationship.destination
                == schema.declaringEntity(of: relationship.name, in: entity).name
    }

    /// The relationship that the inverse continues; nil if there is none.
    private func inverseOrigin(of relationship: Relationship) -> Relationship? {
        guard let inverse = relationship.inverse,
            let destination = mapping.new.entity(named: relationship.destination)
        else { return nil }
        let kinds = [destination] + mapping.new.subentities(of: destination.name)
        for kind in kinds {
            if case .relationship(let origin)? = mapping.origin(of: inverse, in: kind) {
                return origin
            }
        }
        return nil
    }
}

extension Schema {
    /// Whether the schema has an earlier version than another one.
    package func isEarlier(than other: Schema) -> Bool {
        SchemaVersion(version) < SchemaVersion(other.version)
    }
}

/// The version of a schema, compared by its numbers.
private struct SchemaVersion: Comparable {
    private let numbers: [Int]

    /// - Parameter text: A valid version: three numbers.
    init(_ text: String) {
        numbers = text.split(separator: ".").map { Int($0) ?? 0 }
    }

    static func < (left: SchemaVersion, right: SchemaVersion) -> Bool {
        left.numbers.lexicographicallyPrecedes(right.numbers)
    }
}

extension AttributeType {
    /// Whether a migration converts values of another type, if each of them fits: numbers to
    /// numbers, and texts to everything that has a text form, and back.
    func canHoldValues(of other: AttributeType) -> Bool {
        if self == other { return true }
        if isNumber, other.isNumber { return true }
        return (self == .string && other.hasPlainText) || (other == .string && hasPlainText)
    }

    private var hasPlainText: Bool {
        switch self {
        case .bool, .int16, .int32, .int64, .float, .double, .decimal, .date, .uuid, .url: true
        case .string, .data, .json: false
        }
    }
}
