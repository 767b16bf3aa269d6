import LarderModel
import TestSupport

extension PredicateGenerator {
    /// Sort keys, often none.
    mutating func sort() -> [SortKey] {
        var keys: [SortKey] = []
        for _ in 0..<random.number(0...2) {
            let entityName = bases[0].entityName
            let type = attributeType()
            var isObject = false
            let expression: QueryExpression?
            if random.once(in: 8) {
                isObject = true
                expression = singlePath(to: .object(entityName))
            } else if type == .json {
                note("sort JSON")
                expression = anyJSON()
            } else {
                expression = operand(type, depth: 1)
            }
            guard let expression else { continue }
            let orders = StringOrder.allCases
            let order =
                type == .string && !isObject ? random.pick(orders) ?? .plain : StringOrder.plain
            let placement = random.pick(SortKey.NilPlacement.allCases) ?? .standard
            note("sort")
            note("sort \(order)")
            note("nil \(placement)")
            keys.append(
                SortKey(
                    .tree(expression), descending: random.once(in: 2), nilPlacement: placement,
                    stringOrder: order))
        }
        return keys
    }
}
