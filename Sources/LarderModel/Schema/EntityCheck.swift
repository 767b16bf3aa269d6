/// Finds what is wrong with each of several entities, in itself and towards the others.
struct EntityCheck {
    private(set) var faults: [LocatedFault] = []
    private let entities: [Entity]
    private let inheritance: Inheritance
    private let byName: [String: Int]

    /// - Parameter entities: as they were declared.
    init(entities: [Entity], _ inheritance: Inheritance) {
        self.entities = entities
        self.inheritance = inheritance
        byName = Dictionary(
            entities.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// How many properties are inherited in all, each counted wherever it is.
    var inheritedCount: Int {
        let counts = entities.map { $0.attributes.count + $0.relationships.count }
        return inheritance.ancestors.reduce(0) { $1.reduce($0) { $0 + counts[$1] } }
    }

    private func ancestors(of place: Int) -> [Entity] {
        inheritance.ancestors[place].map { entities[$0] }
    }

    /// A property of an entity, and the entity that declares it.
    private func property(
        named name: String, of place: Int
    ) -> (property: Property, declarer: Entity)? {
        for entity in [entities[place]] + ancestors(of: place) {
            if let property = entity.property(named: name) { return (property, entity) }
        }
        return nil
    }

    mutating func report(_ path: SchemaPath, _ message: String) {
        faults.append(LocatedFault(path: path, message: message))
    }

    mutating func check(_ place: Int, at path: SchemaPath) {
        let entity = entities[place]
        let ancestors = ancestors(of: place)
        let propertyCount = ([entity] + ancestors).reduce(0) {
            $0 + $1.attributes.count + $1.relationships.count
        }
        guard propertyCount <= Limits.propertiesMax else {
            let inherited = ancestors.isEmpty ? "" : ", inherited ones included"
            report(path, "has more than \(Limits.propertiesMax) properties\(inherited)")
            return
        }
        var names = NameCheck(kind: "property")
        for name in ancestors.flatMap(\.propertyNames) { names.take(name) }
        for (place, attribute) in entity.attributes.enumerated() {
            let path = path["attributes"][place]
            if let fault = names.fault(in: attribute.name) { report(path["name"], fault) }
            for fault in AttributeCheck.faults(in: attribute) {
                report(path[fault.key], fault.message)
            }
        }
        for (place, relationship) in entity.relationships.enumerated() {
            let path = path["relationships"][place]
            if let fault = names.fault(in: relationship.name) { report(path["name"], fault) }
            check(relationship, of: entity, at: path)
        }
        checkLists(place, at: path)
    }

    private mutating func check(
        _ relationship: Relationship, of entity: Entity, at path: SchemaPath
    ) {
        if relationship.isOrdered, !relationship.isToMany {
            report(path["ordered"], "only a to-many relationship is ordered")
        }
        checkCounts(relationship, at: path)
        guard let place = byName[relationship.destination] else {
            report(path["destination"], "there is no such entity")
            return
        }
        guard let inverse = relationship.inverse else { return }
        let destination = entities[place]
        let found = property(named: inverse, of: place)
        switch found?.property {
        case nil:
            report(path["inverse"], "there is no such relationship of `\(destination.name)`")
        case .relationship where found?.declarer.name != destination.name:
            let declarer = found?.declarer.name ?? ""
            report(
                path["inverse"],
                "`\(destination.name).\(inverse)` is inherited from `\(declarer)`, "
                    + "to which the relationship has to lead")
        case .attribute:
            report(path["inverse"], "`\(destination.name).\(inverse)` is an attribute")
        case .relationship(let other) where other.destination != entity.name:
            report(
                path["inverse"],
                "`\(destination.name).\(inverse)` leads to `\(other.destination)`, "
                    + "not back to `\(entity.name)`")
        case .relationship(let other) where other.inverse != relationship.name:
            let named = other.inverse.map { "names `\($0)` as its inverse" } ?? "names no inverse"
            report(
                path["inverse"],
                "`\(destination.name).\(inverse)` \(named), not `\(relationship.name)`")
        case .relationship: break
        }
    }

    private mutating func checkCounts(_ relationship: Relationship, at path: SchemaPath) {
        let (minimum, maximum) = (relationship.minCount, relationship.maxCount)
        for (key, count) in [("minCount", minimum), ("maxCount", maximum)] {
            if count < 0 { report(path[key], "is less than 0") }
            if count != 0, !relationship.isToMany {
                report(path[key], "only a to-many relationship has a count")
            }
        }
        if maximum > 0, minimum > maximum { report(path["minCount"], "is greater than maxCount") }
    }

    private mutating func checkLists(_ place: Int, at path: SchemaPath) {
        let entity = entities[place]
        let ancestors = ancestors(of: place)
        checkLists(
            entity.uniquenessConstraints, of: place, at: path["unique"],
            fromAttributes: entity.attributes.count(where: \.isUnique), allowsDerived: false,
            inherited: ancestors.flatMap(\.uniquenessConstraints),
            // The order of a constraint's properties says nothing.
            meaning: { $0.sorted() })
        checkLists(
            entity.indexes, of: place, at: path["indexes"],
            fromAttributes: entity.attributes.count(where: \.isIndexed), allowsDerived: true,
            inherited: ancestors.flatMap(\.indexes), meaning: { $0 })
    }

    private mutating func checkLists(
        _ lists: [[String]], of place: Int, at path: SchemaPath, fromAttributes count: Int,
        allowsDerived: Bool, inherited: [[String]], meaning: ([String]) -> [String]
    ) {
        let entity = entities[place]
        guard lists.count - count <= Limits.propertiesMax else {
            report(path, "has more than \(Limits.propertiesMax) elements")
            return
        }
        let inheritedLists = Set(inherited.map(meaning))
        var seenLists = Set(lists.prefix(count))
        for (number, list) in lists.dropFirst(count).enumerated() {
            if list.isEmpty { report(path[number], "names no property") }
            if inheritedLists.contains(meaning(list)) {
                report(path[number], "is inherited already")
            } else if !seenLists.insert(meaning(list)).inserted {
                report(path[number], "is there already")
            }
            var seenNames: Set<String> = []
            for (step, name) in list.enumerated() {
                let path = path[number][step]
                if !seenNames.insert(name).inserted { report(path, "is in this list already") }
                switch property(named: name, of: place)?.property {
                case nil: report(path, "there is no such property of `\(entity.name)`")
                case .relationship(let relationship) where relationship.isToMany:
                    report(path, "`\(entity.name).\(name)` is to-many")
                case .attribute(let attribute) where attribute.isDerived && !allowsDerived:
                    report(path, "`\(entity.name).\(name)` is derived, and not unique")
                case .attribute, .relationship: break
                }
            }
        }
    }
}
