import LarderModel

/// A simple model of ``League`` that applies changes in order and reports the rules that the end
/// state violates. It checks every object each time.
struct RuleModel {
    typealias Key = ObjectModel.Key

    var objects: ObjectModel
    var attributes: [Key: [String: Value]] = [:]
    /// The errors, as ``description(of:)`` describes them.
    var violations: Set<String> = []
    /// Whether an insert may match any of several objects that have its values temporarily.
    var isUndecided = false

    init(_ schema: Schema) { objects = ObjectModel(schema) }

    static func description(of violation: ChangeViolation) -> String {
        let names = violation.propertyNames.joined(separator: ",")
        return "\(violation.entityName ?? "").\(names) \(violation.rule?.rawValue ?? "")"
    }

    func exists(_ object: Key) -> Bool { objects.links[object] != nil }

    /// Drops values that the store rejects, and adds an error.
    mutating func accepted(_ values: [String: Value], of object: Key) -> [String: Value] {
        values.filter { name, value in
            guard case .int(let number) = value, number > 9 else { return true }
            violations.insert("\(object.entity).\(name) maximum")
            return false
        }
    }

    mutating func write(
        _ values: [String: Value], _ links: [String: [Key]], to object: Key
    ) {
        attributes[object, default: [:]].merge(values) { $1 }
        for relationship in objects.relationships(object.entity) {
            guard let targets = links[relationship.name] else { continue }
            objects.set(object, relationship, targets)
        }
    }

    mutating func delete(_ object: Key) -> Int64 { objects.delete(object) }

    // MARK: - Uniqueness

    /// The values of a constraint, nil if one of them is nil.
    private func identity(
        _ names: [String], _ values: [String: Value], _ links: [String: [Key]]
    ) -> [String]? {
        var identity: [String] = []
        for name in names {
            if let value = values[name], value != .null {
                identity.append("\(value)")
            } else if let target = links[name]?.first {
                identity.append("\(target)")
            } else {
                return nil
            }
        }
        return identity
    }

    /// Objects that have the unique values of an insert, each with the constraints' names.
    mutating func matches(
        _ entityName: String, _ values: [String: Value], _ links: [String: [Key]]
    ) -> [(object: Key, names: [String])] {
        let constraints = objects.schema.entity(named: entityName)?.uniquenessConstraints ?? []
        return constraints.compactMap { names in
            guard let wanted = identity(names, values, links) else { return nil }
            let found = objects.objects(entityName).filter { object in
                identity(names, attributes[object] ?? [:], objects.links[object] ?? [:]) == wanted
            }
            if found.count > 1 { isUndecided = true }
            return found.first.map { ($0, names) }
        }
    }

    // MARK: - The end of a set

    mutating func check() {
        for denied in objects.deniedDeletes where denied.destinations.contains(where: exists) {
            violations.insert("\(denied.object.entity).\(denied.name) deleteRule")
        }
        for entity in objects.schema.entities {
            for object in objects.objects(entity.name) {
                for relationship in entity.relationships { check(relationship, of: object) }
            }
            for names in entity.uniquenessConstraints {
                let all = objects.objects(entity.name).compactMap {
                    identity(names, attributes[$0] ?? [:], objects.links[$0] ?? [:])
                }
                guard Set(all).count < all.count else { continue }
                violations.insert("\(entity.name).\(names.joined(separator: ",")) unique")
            }
        }
    }

    private mutating func check(_ relationship: Relationship, of object: Key) {
        let count = objects.destinations(object, relationship.name).count
        let name = "\(object.entity).\(relationship.name)"
        if !relationship.isToMany {
            if !relationship.isOptional && count == 0 { violations.insert("\(name) optional") }
            return
        }
        if count == 0 ? !relationship.isOptional : count < relationship.minCount {
            violations.insert("\(name) minCount")
        }
        if relationship.maxCount > 0 && count > relationship.maxCount {
            violations.insert("\(name) maxCount")
        }
    }
}
