import LarderModel

/// The derived attributes of a schema, and the properties on which each depends.
///
/// It is a pure function of the schema. Which values have to be computed again is determined at the
/// end of a change set from the recorded ``ObjectChanges``; nothing else is recorded for it, and
/// entities without dependents cost nothing.
struct DerivationGraph: Sendable {
    /// A derived attribute that may change with a property.
    struct Dependent: Sendable {
        /// An index in ``DerivationGraph/derivations``.
        let derivation: Int
        /// The relationship through which the derivation reads the property; nil if the object
        /// reads its own property.
        let relationship: Int?
    }

    /// A to-one that keeps the key of a deleted destination, under the delete rule `noAction`.
    struct DanglingKey: Sendable {
        /// The to-one whose column keeps the key.
        let holder: Int
        /// The derivations that read through it.
        let derivations: [Int]
    }

    /// In an order in which they can be computed: none reads a later one.
    private(set) var derivations: [StoredDerivation] = []
    /// By entity, the derivations that read the time.
    private(set) var readingTime: [[Int]] = []
    /// By the entity of the deleted object.
    private(set) var danglingKeys: [[DanglingKey]] = []
    /// By entity.
    private var dependents: [[StoredEntity.Property: [Dependent]]] = []

    var isEmpty: Bool { derivations.isEmpty }

    func dependents(of property: StoredEntity.Property, ofEntity entity: Int) -> [Dependent] {
        dependents[entity][property] ?? []
    }

    /// Whether a derivation reads properties of the entity.
    func isRead(_ entity: Int) -> Bool { !dependents[entity].isEmpty }

    init(
        _ layout: Layout, _ converter: ValueConverter, _ entities: [StoredEntity],
        _ relationships: [StoredRelationship], number: (String) -> Int?
    ) throws(LarderError) {
        guard !layout.schema.derivations.isEmpty else { return }
        readingTime = Array(repeating: [], count: entities.count)
        danglingKeys = Array(repeating: [], count: entities.count)
        dependents = Array(repeating: [:], count: entities.count)
        for derivation in layout.schema.derivations {
            guard let entityNumber = number(derivation.entityName),
                case .attribute(let attribute)? =
                    entities[entityNumber].properties[derivation.attribute.name]
            else { preconditionFailure("a derived attribute is in the schema") }
            let index = derivations.count
            derivations.append(
                StoredDerivation(
                    entityNumber: entityNumber, attribute: attribute,
                    plan: try DerivationPlan(
                        derivation, isOfOneObject: true, layout: layout, converter: converter),
                    update: entities[entityNumber].rows[[attribute]].update))
            if derivation.readsTime { readingTime[entityNumber].append(index) }
            for source in derivation.sources {
                add(source, index, entities[entityNumber], entities, relationships)
            }
        }
        addDanglingKeys(entities, relationships)
    }

    private mutating func add(
        _ source: Derivation.Source, _ derivation: Int, _ entity: StoredEntity,
        _ entities: [StoredEntity], _ relationships: [StoredRelationship]
    ) {
        switch source {
        case .own(let name):
            guard let property = entity.properties[name] else { return }
            dependents[entity.number][property, default: []].append(
                Dependent(derivation: derivation, relationship: nil))
        case .related(let through, let name):
            guard case .relationship(let number)? = entity.properties[through] else { return }
            let destination = relationships[number].destinationNumber
            for entity in entities where entity.ancestorNumbers.contains(destination) {
                guard let property = entity.properties[name] else { continue }
                dependents[entity.number][property, default: []].append(
                    Dependent(derivation: derivation, relationship: number))
            }
        }
    }

    /// A derivation that reads through a dangling key changes although its row does not.
    private mutating func addDanglingKeys(
        _ entities: [StoredEntity], _ relationships: [StoredRelationship]
    ) {
        func subentities(of ancestor: Int) -> [Int] {
            entities.filter { $0.ancestorNumbers.contains(ancestor) }.map(\.number)
        }
        for relationship in relationships where relationship.relationship.deleteRule == .noAction {
            guard let number = relationship.inverseNumber,
                case .own = relationships[number].storage
            else { continue }
            let holder = relationships[number]
            let readers = subentities(of: holder.entityNumber).flatMap {
                dependents(of: .relationship(number), ofEntity: $0).map(\.derivation)
            }
            if readers.isEmpty { continue }
            for entity in subentities(of: relationship.entityNumber) {
                danglingKeys[entity].append(DanglingKey(holder: number, derivations: readers))
            }
        }
    }
}

/// A derived attribute, with the statements that compute and store its value.
struct StoredDerivation: Sendable {
    let entityNumber: Int
    /// Its index in the entity's attributes.
    let attribute: Int
    /// Computes the value of one object.
    let plan: DerivationPlan
    /// Sets the value; the second parameter is the key.
    let update: SQL
}
