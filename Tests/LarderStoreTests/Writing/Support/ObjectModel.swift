import LarderModel

/// The expected objects of a store after change sets, in simple dictionaries, with both
/// sides of every relationship.
struct ObjectModel {
    struct Key: Hashable {
        let entity: String
        let key: Int64
    }

    let schema: Schema
    /// The objects of each relationship, in order, by its name.
    private(set) var links: [Key: [String: [Key]]] = [:]
    private var lastKeys: [String: Int64] = [:]

    /// A deleted object, and the destinations of a relationship with the rule `deny`.
    struct DeniedDelete {
        let object: Key
        let name: String
        let destinations: [Key]
    }

    var deniedDeletes: [DeniedDelete] = []

    init(_ schema: Schema) { self.schema = schema }

    /// In a fixed order, so that random choices can be repeated.
    func objects(_ entityName: String) -> [Key] {
        links.keys.filter { $0.entity == entityName }.sorted { $0.key < $1.key }
    }

    func relationships(_ entityName: String) -> [Relationship] {
        schema.entity(named: entityName)?.relationships ?? []
    }

    mutating func insert(_ entityName: String) -> Key {
        let key = (lastKeys[entityName] ?? 0) + 1
        lastKeys[entityName] = key
        let object = Key(entity: entityName, key: key)
        links[object] = [:]
        return object
    }

    func destinations(_ object: Key, _ name: String) -> [Key] { links[object]?[name] ?? [] }

    mutating func set(_ object: Key, _ relationship: Relationship, _ targets: [Key]) {
        let old = destinations(object, relationship.name)
        if let inverse = relationship.inverse {
            for other in old where !targets.contains(other) { remove(object, from: other, inverse) }
        }
        links[object]?[relationship.name] = targets
        guard let inverse = inverse(of: relationship) else { return }
        for other in targets where !old.contains(other) {
            var list = destinations(other, inverse.name)
            if !inverse.isToMany {
                for owner in list where owner != object {
                    remove(other, from: owner, relationship.name)
                }
                list = []
            }
            if !list.contains(object) { list.append(object) }
            links[other]?[inverse.name] = list
        }
    }

    /// Deletes with all rules, and returns the number of deleted objects.
    mutating func delete(_ object: Key) -> Int64 {
        guard let own = links[object] else { return 0 }
        for relationship in relationships(object.entity) where relationship.deleteRule == .deny {
            let destinations = own[relationship.name] ?? []
            deniedDeletes.append(
                DeniedDelete(object: object, name: relationship.name, destinations: destinations))
        }
        let doomed = relationships(object.entity).filter { $0.deleteRule == .cascade }.flatMap {
            own[$0.name] ?? []
        }
        links[object] = nil
        for other in links.keys {
            for relationship in relationships(other.entity)
            where !keeps(relationship, of: other, object) {
                remove(object, from: other, relationship.name)
            }
        }
        return doomed.reduce(1) { $0 + delete($1) }
    }

    /// Whether a to-one keeps the key of a deleted object under the rule `noAction` of its inverse,
    /// because its own row holds the key.
    private func keeps(_ relationship: Relationship, of other: Key, _ object: Key) -> Bool {
        guard relationship.destination == object.entity, !relationship.isToMany,
            let inverse = inverse(of: relationship), inverse.deleteRule == .noAction
        else { return false }
        return inverse.isToMany
            || (other.entity, relationship.name) <= (object.entity, inverse.name)
    }

    /// Removes an object with its links, and inserts it again without links.
    mutating func forget(_ object: Key) { links[object] = nil }
    mutating func restore(_ object: Key) { links[object] = [:] }

    private mutating func remove(_ object: Key, from other: Key, _ name: String) {
        links[other]?[name]?.removeAll { $0 == object }
    }

    private func inverse(of relationship: Relationship) -> Relationship? {
        relationship.inverse.flatMap { name in
            relationships(relationship.destination).first { $0.name == name }
        }
    }
}
