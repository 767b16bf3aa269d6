/// Finds what is wrong with each of several entities, in itself and towards the others.
struct EntityCheck {
    private(set) var faults: [LocatedFault] = []
    private let byName: [String: Entity]

    init(entities: [Entity]) {
        byName = Dictionary(entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    }

    mutating func report(_ path: SchemaPath, _ message: String) {
        faults.append(LocatedFault(path: path, message: message))
    }

    mutating func check(_ entity: Entity, at path: SchemaPath) {
        guard entity.attributes.count + entity.relationships.count <= Limits.propertiesMax else {
            report(path, "has more than \(Limits.propertiesMax) properties")
            return
        }
        var names = NameCheck(kind: "property")
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
        checkLists(entity, at: path)
    }

    private mutating func check(
        _ relationship: Relationship, of entity: Entity, at path: SchemaPath
    ) {
        if relationship.isOrdered, !relationship.isToMany {
            report(path["ordered"], "only a to-many relationship is ordered")
        }
        checkCounts(relationship, at: path)
        guard let destination = byName[relationship.destination] else {
            report(path["destination"], "there is no such entity")
            return
        }
        guard let inverse = relationship.inverse else { return }
        switch destination.property(named: inverse) {
        case nil:
            report(path["inverse"], "there is no such relationship of `\(destination.name)`")
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

    private mutating func checkLists(_ entity: Entity, at path: SchemaPath) {
        checkLists(
            entity.uniquenessConstraints, of: entity, at: path["unique"],
            fromAttributes: entity.attributes.count(where: \.isUnique), allowsDerived: false,
            // The order of a constraint's properties says nothing.
            meaning: { $0.sorted() })
        checkLists(
            entity.indexes, of: entity, at: path["indexes"],
            fromAttributes: entity.attributes.count(where: \.isIndexed), allowsDerived: true,
            meaning: { $0 })
    }

    private mutating func checkLists(
        _ lists: [[String]], of entity: Entity, at path: SchemaPath, fromAttributes count: Int,
        allowsDerived: Bool, meaning: ([String]) -> [String]
    ) {
        guard lists.count - count <= Limits.propertiesMax else {
            report(path, "has more than \(Limits.propertiesMax) elements")
            return
        }
        var seenLists = Set(lists.prefix(count))
        for (place, list) in lists.dropFirst(count).enumerated() {
            if list.isEmpty { report(path[place], "names no property") }
            if !seenLists.insert(meaning(list)).inserted {
                report(path[place], "is there already")
            }
            var seenNames: Set<String> = []
            for (step, name) in list.enumerated() {
                let path = path[place][step]
                if !seenNames.insert(name).inserted { report(path, "is in this list already") }
                switch entity.property(named: name) {
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
