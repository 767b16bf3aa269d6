/// Which entity inherits from which.
///
/// Made of entities as they were declared, also of such that do not fit together: a chain of
/// parents ends where one is unknown, or where it would come back to an entity that it has left.
struct Inheritance: Hashable, Sendable {
    /// The place of each entity's parent.
    private let parents: [Int?]
    /// By the place of each entity: the places of its ancestors, the nearest first.
    let ancestors: [[Int]]
    /// By name: the places of all entities below, in the order of the schema.
    private let descendants: [String: [Int]]
    /// By name: the names of all ancestors.
    private let ancestorNames: [String: [String]]

    init(_ entities: [Entity]) {
        let places = Dictionary(
            entities.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
        let parents = entities.map { $0.parent.flatMap { places[$0] } }
        let ancestors = entities.indices.map { Inheritance.chain(from: $0, parents) }
        var descendants: [String: [Int]] = [:]
        var names: [String: [String]] = [:]
        for (place, chain) in ancestors.enumerated() where !chain.isEmpty {
            for ancestor in chain {
                descendants[entities[ancestor].name, default: []].append(place)
            }
            names[entities[place].name] = chain.map { entities[$0].name }
        }
        self.parents = parents
        self.ancestors = ancestors
        self.descendants = descendants
        ancestorNames = names
    }

    private static func chain(from place: Int, _ parents: [Int?]) -> [Int] {
        var chain: [Int] = []
        var next = parents[place]
        while let parent = next, parent != place, chain.count < parents.count {
            chain.append(parent)
            next = parents[parent]
        }
        return chain
    }

    func descendants(of name: String) -> [Int] { descendants[name] ?? [] }

    func ancestors(of name: String) -> [String] { ancestorNames[name] ?? [] }

    /// The entities with what they inherit; the chains have to be sound.
    func completed(_ declared: [Entity]) -> [Entity] {
        var completed = declared
        let fromTheTop = ancestors.indices.sorted { ancestors[$0].count < ancestors[$1].count }
        for place in fromTheTop {
            guard let parent = ancestors[place].first else { continue }
            completed[place] = declared[place].inheriting(from: completed[parent])
        }
        return completed
    }

    /// What is wrong with each entity's parent, by the entity's place.
    func faults(in entities: [Entity]) -> [(place: Int, message: String)] {
        var faults: [(place: Int, message: String)] = []
        for (place, entity) in entities.enumerated() where entity.parent != nil {
            let chain = ancestors[place]
            guard let parent = parents[place] else {
                faults.append((place, "there is no such entity"))
                continue
            }
            if parent == place || chain.last.map({ parents[$0] == place }) == true {
                faults.append((place, "`\(entity.name)` would be above itself"))
            } else if chain.count < entities.count, chain.count == Limits.ancestorsMax + 1 {
                // What is below has too many as well, and does not say so again.
                faults.append((place, "has more than \(Limits.ancestorsMax) entities above"))
            }
        }
        return faults
    }
}

extension Schema {
    /// The entity at the top of the one's tree: itself where it has no parent.
    public func root(of entity: Entity) -> Entity {
        inheritance.ancestors(of: entity.name).last.flatMap { self.entity(named: $0) } ?? entity
    }

    /// All entities below one, at any depth, in the order of the schema.
    public func subentities(of name: String) -> [Entity] {
        inheritance.descendants(of: name).map { entities[$0] }
    }

    public func hasSubentities(_ name: String) -> Bool {
        !inheritance.descendants(of: name).isEmpty
    }

    /// Whether objects of an entity are also objects of another: the same, or one above.
    public func isKind(_ name: String, of ancestor: String) -> Bool {
        name == ancestor || inheritance.ancestors(of: name).contains(ancestor)
    }

    /// Whether one of the two is the other, or above it: only then may one object be of both.
    public func areRelated(_ name: String, _ other: String) -> Bool {
        isKind(name, of: other) || isKind(other, of: name)
    }

    /// The entity and all above it, from the top down.
    public func lineage(of entity: Entity) -> [Entity] {
        inheritance.ancestors(of: entity.name).reversed().compactMap { self.entity(named: $0) }
            + [entity]
    }

    /// The places in the schema file of the entity that declares an attribute, and of that.
    public func place(
        of attribute: String, in entity: Entity
    ) -> (entity: Int, attribute: Int) {
        let declarer = declaringEntity(of: attribute, in: entity)
        return (
            entities.firstIndex { $0.name == declarer.name } ?? 0,
            declarer.declared.attributes.firstIndex { $0.name == attribute } ?? 0
        )
    }

    /// The entity that declares a property which the given one has: itself, or one above.
    public func declaringEntity(of property: String, in entity: Entity) -> Entity {
        lineage(of: entity).first { $0.property(named: property) != nil } ?? entity
    }
}
