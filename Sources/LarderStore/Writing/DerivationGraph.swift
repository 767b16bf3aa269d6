import LarderModel

/// The derived attributes of a schema, and what each change makes the store compute again.
///
/// A pure function of the schema. Who is to be computed again is found out when a change set is
/// done, from what became of its objects (``ObjectChanges``): nothing is noted for it on the way,
/// and entities that nothing is derived of pay nothing.
struct DerivationGraph: Sendable {
    /// A derived attribute that may change with a property.
    struct Dependent: Sendable {
        /// The place of the derivation in ``DerivationGraph/derivations``.
        let derivation: Int
        /// The relationship, of the objects that read the property, that leads to the object that
        /// has it; nil where the object reads it itself.
        let relationship: Int?
    }

    /// Deleted objects whose key stays in rows that lead to them, under the rule `noAction`.
    struct KeptKey: Sendable {
        /// The to-one whose column keeps the key.
        let holder: Int
        /// Derivations that read through it.
        let derivations: [Int]
    }

    /// In an order in which they can be computed.
    private(set) var derivations: [StoredDerivation] = []
    /// By entity: the derivations that it has, and those of them that read the time.
    private(set) var ofEntity: [[Int]] = []
    private(set) var readingTime: [[Int]] = []
    /// By the entity that is deleted.
    private(set) var keptKeys: [[KeptKey]] = []
    private var dependents: [[StoredEntity.Place: [Dependent]]] = []

    var isEmpty: Bool { derivations.isEmpty }

    func dependents(of place: StoredEntity.Place, ofEntity entity: Int) -> [Dependent] {
        dependents[entity][place] ?? []
    }

    /// Whether anything is derived of the entity's objects.
    func isRead(_ entity: Int) -> Bool { !dependents[entity].isEmpty }

    init(
        _ layout: Layout, _ converter: ValueConverter, _ entities: [StoredEntity],
        _ relationships: [StoredRelationship], number: (String) -> Int?
    ) throws(LarderError) {
        guard !layout.schema.derivations.isEmpty else { return }
        ofEntity = Array(repeating: [], count: entities.count)
        readingTime = ofEntity
        keptKeys = Array(repeating: [], count: entities.count)
        dependents = Array(repeating: [:], count: entities.count)
        for derivation in layout.schema.derivations {
            guard let entityNumber = number(derivation.entityName),
                case .attribute(let attribute)? =
                    entities[entityNumber].places[derivation.attribute.name]
            else { preconditionFailure("a derivation is of an attribute of the schema") }
            let place = derivations.count
            derivations.append(
                StoredDerivation(
                    entityNumber: entityNumber, attribute: attribute,
                    plan: try DerivationPlan(
                        derivation, isOfOneObject: true, layout: layout, converter: converter),
                    update: entities[entityNumber].rows[[attribute]].update))
            ofEntity[entityNumber].append(place)
            if derivation.readsTime { readingTime[entityNumber].append(place) }
            for source in derivation.sources {
                add(source, place, entities[entityNumber], entities, relationships)
            }
        }
        noteKeptKeys(entities, relationships)
    }

    private mutating func add(
        _ source: Derivation.Source, _ derivation: Int, _ entity: StoredEntity,
        _ entities: [StoredEntity], _ relationships: [StoredRelationship]
    ) {
        switch source {
        case .own(let name):
            guard let place = entity.places[name] else { return }
            dependents[entity.number][place, default: []].append(
                Dependent(derivation: derivation, relationship: nil))
        case .related(let through, let name):
            guard case .relationship(let number)? = entity.places[through] else { return }
            let destination = relationships[number].destinationNumber
            for entity in entities where entity.ancestorNumbers.contains(destination) {
                guard let place = entity.places[name] else { continue }
                dependents[entity.number][place, default: []].append(
                    Dependent(derivation: derivation, relationship: number))
            }
        }
    }

    /// A key that is left behind leads to nothing, although the row that holds it did not change.
    private mutating func noteKeptKeys(
        _ entities: [StoredEntity], _ relationships: [StoredRelationship]
    ) {
        func heirs(of ancestor: Int) -> [Int] {
            entities.filter { $0.ancestorNumbers.contains(ancestor) }.map(\.number)
        }
        for relationship in relationships where relationship.relationship.deleteRule == .noAction {
            guard let number = relationship.inverseNumber,
                case .own = relationships[number].storage
            else { continue }
            let holder = relationships[number]
            let readers = heirs(of: holder.entityNumber).flatMap {
                dependents(of: .relationship(number), ofEntity: $0).map(\.derivation)
            }
            if readers.isEmpty { continue }
            for entity in heirs(of: relationship.entityNumber) {
                keptKeys[entity].append(KeptKey(holder: number, derivations: readers))
            }
        }
    }
}

/// A derived attribute with the statements that compute and keep its value.
struct StoredDerivation: Sendable {
    let entityNumber: Int
    /// Its place among the entity's attributes.
    let attribute: Int
    /// Of one object.
    let plan: DerivationPlan
    /// Sets the value, and then finds the row by its key.
    let update: SQLText
}
