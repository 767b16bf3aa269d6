/// Checks each entity by itself and in relation to the others.
struct EntityCheck {
    private(set) var problems: [LocatedProblem] = []
    private let entities: [Entity]
    private let inheritance: Inheritance
    private let byName: [String: Int]

    /// - Parameter entities: The entities as declared, without inherited properties.
    init(entities: [Entity], _ inheritance: Inheritance) {
        self.entities = entities
        self.inheritance = inheritance
        byName = Dictionary(
            entities.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// The number of inherited properties, counted once per entity that inherits them.
    var inheritedCount: Int {
        let counts = entities.map { $0.attributes.count + $0.relationships.count }
        return inheritance.ancestors.reduce(0) { $1.reduce($0) { $0 + counts[$1] } }
    }

    private func ancestors(of index: Int) -> [Entity] {
        inheritance.ancestors[index].map { entities[$0] }
    }

    /// The property of an entity with a name, and the entity that declares it.
    private func property(
        named name: String, of index: Int
    ) -> (property: Property, declarer: Entity)? {
        for entity in [entities[index]] + ancestors(of: index) {
            if let property = entity.property(named: name) { return (property, entity) }
        }
        return nil
    }

    mutating func report(_ path: SchemaPath, _ message: String) {
        problems.append(LocatedProblem(path: path, message: message))
    }

    mutating func reportUnknownEntity(_ name: String, at path: SchemaPath) {
        report(path, suggesting(name, among: entities.map(\.name), "unknown entity"))
    }

    private func suggesting(
        _ name: String, among known: @autoclosure () -> [String], _ message: String
    ) -> String {
        NameSuggestion.appended(to: message, for: name, among: known(), after: problems.count)
    }

    private func propertyNames(of index: Int) -> [String] {
        ([entities[index]] + ancestors(of: index)).flatMap(\.propertyNames)
    }

    mutating func check(_ index: Int, at path: SchemaPath) {
        let entity = entities[index]
        let ancestors = ancestors(of: index)
        let propertyCount = ([entity] + ancestors).reduce(0) {
            $0 + $1.attributes.count + $1.relationships.count
        }
        guard propertyCount <= Limits.propertiesMax else {
            let inherited = ancestors.isEmpty ? "" : ", including inherited ones"
            report(path, "has more than \(Limits.propertiesMax) properties\(inherited)")
            return
        }
        var names = NameCheck(kind: "property")
        for name in ancestors.flatMap(\.propertyNames) { names.take(name) }
        var originalNames = OriginalNameCheck(inherited: ancestors)
        for (index, attribute) in entity.attributes.enumerated() {
            let path = path["attributes"][index]
            if let problem = names.problem(in: attribute.name) { report(path["name"], problem) }
            if let problem = originalNames.problem(in: attribute.originalName, of: attribute.name) {
                report(path["originalName"], problem)
            }
            for problem in AttributeCheck.problems(in: attribute) {
                report(path[problem.key], problem.message)
            }
        }
        for (index, relationship) in entity.relationships.enumerated() {
            let path = path["relationships"][index]
            if let problem = names.problem(in: relationship.name) { report(path["name"], problem) }
            if let problem = originalNames.problem(
                in: relationship.originalName, of: relationship.name)
            {
                report(path["originalName"], problem)
            }
            check(relationship, of: entity, at: path)
        }
        checkLists(index, at: path)
    }

    private mutating func check(
        _ relationship: Relationship, of entity: Entity, at path: SchemaPath
    ) {
        if relationship.isOrdered, !relationship.isToMany {
            report(path["ordered"], "only a to-many relationship is ordered")
        }
        checkCounts(relationship, at: path)
        guard let index = byName[relationship.destination] else {
            reportUnknownEntity(relationship.destination, at: path["destination"])
            return
        }
        guard let inverse = relationship.inverse else { return }
        let destination = entities[index]
        let found = property(named: inverse, of: index)
        switch found?.property {
        case nil:
            report(
                path["inverse"],
                suggesting(
                    inverse, among: destination.relationships.map(\.name),
                    "`\(destination.name)` has no such relationship"))
        case .relationship where found?.declarer.name != destination.name:
            let declarer = found?.declarer.name ?? ""
            report(
                path["inverse"],
                "`\(destination.name).\(inverse)` is inherited from `\(declarer)`; "
                    + "the destination must be `\(declarer)`")
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

    private mutating func checkLists(_ index: Int, at path: SchemaPath) {
        let entity = entities[index]
        let ancestors = ancestors(of: index)
        checkLists(
            entity.uniquenessConstraints, of: index, at: path["unique"],
            fromAttributes: entity.attributes.count(where: \.isUnique), allowsDerived: false,
            inherited: ancestors.flatMap(\.uniquenessConstraints),
            // The order of the properties of a constraint has no meaning.
            meaning: { $0.sorted() })
        checkLists(
            entity.indexes, of: index, at: path["indexes"],
            fromAttributes: entity.attributes.count { $0.indexed == .exact }, allowsDerived: true,
            inherited: ancestors.flatMap(\.indexes), meaning: { $0 })
        checkLists(
            entity.wordIndexes, of: index, at: path["search"],
            fromAttributes: entity.attributes.count { $0.search.contains(.words) },
            allowsDerived: true, inherited: ancestors.flatMap(\.wordIndexes), meaning: { $0 })
        checkWordIndexes(index, at: path["search"])
    }

    /// The attributes of an index of words are strings, and few.
    private mutating func checkWordIndexes(_ index: Int, at path: SchemaPath) {
        let entity = entities[index]
        let lists = entity.wordIndexes.dropFirst(
            entity.attributes.count { $0.search.contains(.words) })
        for (number, list) in lists.enumerated() {
            if list.count > Limits.wordIndexAttributesMax {
                report(
                    path[number], "has more than \(Limits.wordIndexAttributesMax) attributes")
            }
            for (step, name) in list.enumerated() {
                switch property(named: name, of: index)?.property {
                case .attribute(let attribute) where attribute.type != .string:
                    report(
                        path[number][step],
                        "only a string is searched, not \(attribute.type.rawValue)")
                case .relationship:
                    report(path[number][step], "only a string is searched, not a relationship")
                case .attribute, nil: break
                }
            }
        }
    }

    private mutating func checkLists(
        _ lists: [[String]], of index: Int, at path: SchemaPath, fromAttributes count: Int,
        allowsDerived: Bool, inherited: [[String]], meaning: ([String]) -> [String]
    ) {
        let entity = entities[index]
        guard lists.count - count <= Limits.propertiesMax else {
            report(path, "has more than \(Limits.propertiesMax) elements")
            return
        }
        let inheritedLists = Set(inherited.map(meaning))
        var seenLists = Set(lists.prefix(count))
        for (number, list) in lists.dropFirst(count).enumerated() {
            if list.isEmpty { report(path[number], "names no property") }
            if inheritedLists.contains(meaning(list)) {
                report(path[number], "is already inherited")
            } else if !seenLists.insert(meaning(list)).inserted {
                report(path[number], "is a duplicate")
            }
            var seenNames: Set<String> = []
            for (step, name) in list.enumerated() {
                let path = path[number][step]
                if !seenNames.insert(name).inserted { report(path, "is a duplicate in this list") }
                switch property(named: name, of: index)?.property {
                case nil:
                    report(
                        path,
                        suggesting(
                            name, among: propertyNames(of: index),
                            "`\(entity.name)` has no such property"))
                case .relationship(let relationship) where relationship.isToMany:
                    report(path, "`\(entity.name).\(name)` is to-many")
                case .attribute(let attribute) where attribute.isDerived && !allowsDerived:
                    report(path, "`\(entity.name).\(name)` is derived and cannot be unique")
                case .attribute, .relationship: break
                }
            }
        }
    }
}
