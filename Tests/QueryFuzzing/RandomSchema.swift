import LarderModel
import LarderQuery
import TestSupport

/// Generates schemas of two or three entities with attributes of all types, relationships of all
/// kinds, and often subentities.
enum RandomSchema {
    private static let names = ["Alpha", "Beta", "Gamma"]

    static func schema(_ random: inout SeededGenerator) throws -> Schema {
        var names = Array(names.prefix(random.number(2...3)))
        var parents: [String: String] = [:]
        if random.once(in: 2) {
            for name in ["Delta", "Epsilon", "Zeta"].prefix(random.number(1...3)) {
                parents[name] = random.once(in: 2) ? names[0] : random.pick(names)
                names.append(name)
            }
        }
        var relationships: [String: [Relationship]] = [:]
        for number in 0..<random.number(4...7) {
            let source = random.pick(names) ?? names[0]
            let destination = random.once(in: 3) ? source : random.pick(names) ?? names[0]
            let (there, back) = pair("r\(number)", from: source, to: destination, &random)
            relationships[source, default: []].append(there)
            if let back { relationships[destination, default: []].append(back) }
        }
        return try Schema(
            entities: names.map { name in
                entity(name, below: parents[name], relationships[name] ?? [], &random)
            })
    }

    private static func entity(
        _ name: String, below parent: String?, _ relationships: [Relationship],
        _ random: inout SeededGenerator
    ) -> Entity {
        // Inherited properties already have their names.
        let prefix = parent == nil ? "" : name.lowercased()
        var attributes: [Attribute] = []
        for type in AttributeType.allCases {
            for number in 0..<random.number(type == .string || type == .int64 ? 1...2 : 0...1) {
                let name = "\(type.rawValue)\(number)"
                let isOptional = !random.once(in: 4)
                var indexed: Attribute.Matching? = random.once(in: 4) ? .exact : nil
                var search: Attribute.SearchIndexes = []
                if type == .string {
                    if random.once(in: 4) { indexed = .insensitive }
                    if random.once(in: 3) { search.insert(.parts) }
                    if random.once(in: 4) { search.insert(.words) }
                }
                attributes.append(
                    Attribute(
                        name: "\(prefix)\(name)", type: type, isOptional: isOptional,
                        // A unique attribute must be optional, since values repeat.
                        indexed: indexed, search: search,
                        originalName: random.once(in: 4) ? "\(prefix)old\(name)" : nil,
                        hashModifier: random.once(in: 8) ? "2" : nil))
            }
        }
        attributes.append(
            Attribute(
                name: "\(prefix)unique0",
                type: random.pick([.int64, .string, .date, .decimal]) ?? .int64,
                isOptional: true, unique: .exact))
        var indexes: [[String]] = []
        if random.once(in: 2), attributes.count > 1 {
            indexes = [Array(attributes.map(\.name).shuffled(using: &random).prefix(2))]
        }
        let texts = attributes.filter { $0.type == .string }.map(\.name)
        let wordIndexes =
            texts.count > 1 && random.once(in: 2) ? [texts.shuffled(using: &random)] : []
        return Entity(
            name: name, attributes: attributes, relationships: relationships,
            uniquenessConstraints: random.once(in: 3)
                ? [["\(prefix)unique0", attributes[0].name]] : [],
            indexes: indexes, wordIndexes: wordIndexes, parent: parent,
            isAbstract: random.once(in: 8),
            originalName: random.once(in: 4) ? "Old\(name)" : nil,
            hashModifier: random.once(in: 8) ? "2" : nil)
    }

    /// A relationship and its inverse, if it has one.
    private static func pair(
        _ name: String, from source: String, to destination: String,
        _ random: inout SeededGenerator
    ) -> (Relationship, Relationship?) {
        func one(_ name: String, _ destination: String, _ inverse: String?) -> Relationship {
            Relationship(
                name: name, destination: destination, inverse: inverse,
                originalName: random.once(in: 4) ? "old\(name)" : nil,
                hashModifier: random.once(in: 8) ? "2" : nil)
        }
        func many(_ name: String, _ destination: String, _ inverse: String?) -> Relationship {
            Relationship(
                name: name, destination: destination, isToMany: true,
                isOrdered: random.once(in: 3), inverse: inverse)
        }
        let back = "\(name)back"
        switch random.number(0...6) {
        case 0: return (one(name, destination, nil), nil)
        case 1: return (many(name, destination, nil), nil)
        case 2: return (one(name, destination, back), one(back, source, name))
        case 3, 4: return (one(name, destination, back), many(back, source, name))
        default: return (many(name, destination, back), many(back, source, name))
        }
    }
}
