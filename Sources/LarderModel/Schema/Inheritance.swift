/// The inheritance hierarchy of a list of entities.
///
/// It also accepts invalid declarations: a chain of parents ends at an unknown entity or before it
/// repeats one.
struct Inheritance: Hashable, Sendable {
    /// The index of each entity's parent.
    private let parents: [Int?]
    /// For each entity by index, the indexes of its ancestors, nearest first.
    let ancestors: [[Int]]
    /// For each name, the indexes of all subentities at any depth, in the order of the schema.
    private let descendants: [String: [Int]]
    /// For each name, the names of all ancestors.
    private let ancestorNames: [String: [String]]

    init(_ entities: [Entity]) {
        let indexes = Dictionary(
            entities.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
        let parents = entities.map { $0.parent.flatMap { indexes[$0] } }
        let ancestors = entities.indices.map { Inheritance.chain(from: $0, parents) }
        var descendants: [String: [Int]] = [:]
        var names: [String: [String]] = [:]
        for (index, chain) in ancestors.enumerated() where !chain.isEmpty {
            for ancestor in chain {
                descendants[entities[ancestor].name, default: []].append(index)
            }
            names[entities[index].name] = chain.map { entities[$0].name }
        }
        self.parents = parents
        self.ancestors = ancestors
        self.descendants = descendants
        ancestorNames = names
    }

    private static func chain(from index: Int, _ parents: [Int?]) -> [Int] {
        var chain: [Int] = []
        var next = parents[index]
        while let parent = next, parent != index, chain.count < parents.count {
            chain.append(parent)
            next = parents[parent]
        }
        return chain
    }

    func descendants(of name: String) -> [Int] { descendants[name] ?? [] }

    func ancestors(of name: String) -> [String] { ancestorNames[name] ?? [] }

    /// The entities whose parent is not an entity of the schema, by index.
    func unknownParents(in entities: [Entity]) -> [(index: Int, parent: String)] {
        entities.enumerated().compactMap { index, entity in
            guard parents[index] == nil, let parent = entity.parent else { return nil }
            return (index, parent)
        }
    }

    /// Returns the entities with their inherited properties; the hierarchy must be valid.
    func completed(_ declared: [Entity]) -> [Entity] {
        var completed = declared
        let parentsFirst = ancestors.indices.sorted { ancestors[$0].count < ancestors[$1].count }
        for index in parentsFirst {
            guard let parent = ancestors[index].first else { continue }
            completed[index] = declared[index].inheriting(from: completed[parent])
        }
        return completed
    }

    /// The problems with the parents of known entities, by the index of the entity.
    func problems(in entities: [Entity]) -> [(index: Int, message: String)] {
        var problems: [(index: Int, message: String)] = []
        for (index, entity) in entities.enumerated() where entity.parent != nil {
            let chain = ancestors[index]
            guard let parent = parents[index] else { continue }
            if parent == index || chain.last.map({ parents[$0] == index }) == true {
                problems.append((index, "`\(entity.name)` cannot be its own ancestor"))
            } else if chain.count < entities.count, chain.count == Limits.ancestorsMax + 1 {
                // The subentities exceed the limit too and are not reported again.
                problems.append((index, "has more than \(Limits.ancestorsMax) ancestors"))
            }
        }
        return problems
    }
}

extension Schema {
    /// The root of an entity's hierarchy: the entity itself if it has no parent.
    public func root(of entity: Entity) -> Entity {
        inheritance.ancestors(of: entity.name).last.flatMap { self.entity(named: $0) } ?? entity
    }

    /// All subentities of an entity at any depth, in the order of the schema.
    public func subentities(of name: String) -> [Entity] {
        inheritance.descendants(of: name).map { entities[$0] }
    }

    package func hasSubentities(_ name: String) -> Bool {
        !inheritance.descendants(of: name).isEmpty
    }

    /// Whether objects of an entity are also objects of another: the entity itself or an ancestor.
    public func isKind(_ name: String, of ancestor: String) -> Bool {
        name == ancestor || inheritance.ancestors(of: name).contains(ancestor)
    }

    /// Whether one of the entities is the other or its ancestor, so that an object can be of both.
    package func areRelated(_ name: String, _ other: String) -> Bool {
        isKind(name, of: other) || isKind(other, of: name)
    }

    /// The entity that a step of a key path names instead of a property, as in `Student.grade`: a
    /// subentity of the entity of the object before it. An ancestor's name leads to that entity.
    package func castDestination(named name: String, of entity: Entity) -> Entity? {
        guard entity.property(named: name) == nil, areRelated(name, entity.name) else { return nil }
        return isKind(entity.name, of: name) ? entity : self.entity(named: name)
    }

    /// The ancestors of the entity, root first, and the entity itself.
    package func lineage(of entity: Entity) -> [Entity] {
        inheritance.ancestors(of: entity.name).reversed().compactMap { self.entity(named: $0) }
            + [entity]
    }

    /// The indexes in the schema file of the entity that declares an attribute and of the
    /// attribute.
    package func indexes(
        of attribute: String, in entity: Entity
    ) -> (entity: Int, attribute: Int) {
        let declarer = declaringEntity(of: attribute, in: entity)
        return (
            entities.firstIndex { $0.name == declarer.name } ?? 0,
            declarer.declared.attributes.firstIndex { $0.name == attribute } ?? 0
        )
    }

    /// The entity that declares a property: the given entity or an ancestor.
    package func declaringEntity(of property: String, in entity: Entity) -> Entity {
        lineage(of: entity).first { $0.property(named: property) != nil } ?? entity
    }
}
