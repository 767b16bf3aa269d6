import LarderModel
import TestSupport

extension PredicateGenerator {
    /// Sort keys, of which there are often none.
    mutating func sort() -> [SortKey] {
        var keys: [SortKey] = []
        for _ in 0..<random.number(0...2) {
            let entityName = bases[0].entityName
            let type = attributeType()
            let end: SchemaPaths.End =
                random.once(in: 8) ? .object(entityName) : .attribute(type)
            guard let steps = random.pick(paths.entries[entityName]?.single[end] ?? []) else {
                continue
            }
            note("sort")
            keys.append(SortKey(steps.joined(separator: "."), descending: random.once(in: 2)))
        }
        return keys
    }
}
