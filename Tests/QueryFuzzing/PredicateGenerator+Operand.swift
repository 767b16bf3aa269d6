import LarderModel
import TestSupport

extension PredicateGenerator {
    /// One value of the type for each object.
    mutating func operand(_ type: AttributeType, depth: Int) -> QueryExpression? {
        singlePath(to: .attribute(type))
    }

    /// A value over a collection, compared.
    mutating func aggregateComparison(depth: Int) -> QueryExpression? {
        guard let count = count(depth: depth) else { return nil }
        let operators: [Comparison.Operator] = [
            .equal, .notEqual, .lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual,
        ]
        let name = random.pick(operators) ?? .equal
        let number: Value =
            random.once(in: 12)
            ? .null : random.once(in: 8) ? .double(1.5) : .int(Int64(random.number(0...3)))
        let right = literal(number)
        return .comparison(
            random.once(in: 4) ? Comparison(right, name, count) : Comparison(count, name, right))
    }

    mutating func count(depth: Int) -> QueryExpression? {
        note("@count")
        if random.once(in: 4) {
            guard let path = manyPath(to: .attribute(attributeType())) else { return nil }
            return .collection(.count, path)
        }
        guard let (collection, _) = objectCollection(depth: depth) else { return nil }
        return .collection(.count, collection)
    }
}
