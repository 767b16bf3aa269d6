import LarderModel
import TestSupport

extension PredicateGenerator {
    /// An expression with one value of the type per object.
    mutating func operand(_ type: AttributeType, depth: Int) -> QueryExpression? {
        if random.once(in: 4), depth >= 0, let call = function(giving: type, depth: depth) {
            return call
        }
        if random.once(in: 8), depth > 0, let value = aggregate(giving: type, depth: depth) {
            return value
        }
        return singlePath(to: .attribute(type))
    }

    /// A comparison with an aggregate over a collection.
    mutating func aggregateComparison(depth: Int) -> QueryExpression? {
        guard random.once(in: 2) else { return countComparison(depth: depth) }
        let type = attributeType()
        guard let value = aggregate(giving: type, depth: depth) else { return nil }
        return comparison(value, type, .direct, depth: depth)
    }

    private mutating func countComparison(depth: Int) -> QueryExpression? {
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

    private mutating func count(depth: Int) -> QueryExpression? {
        let function: AggregateFunction = random.once(in: 3) ? .countDistinct : .count
        note("@\(function)")
        if random.once(in: 3) {
            guard let path = manyAttribute(attributeType(), depth: depth) else { return nil }
            return .collection(function, path)
        }
        guard let (collection, _) = objectCollection(depth: depth) else { return nil }
        return .collection(function, collection)
    }

    /// Attributes at the end of a to-many key path, or of the objects of a SUBQUERY.
    mutating func manyAttribute(_ type: AttributeType, depth: Int) -> QueryExpression? {
        guard random.once(in: 4), depth > 0 else { return manyPath(to: .attribute(type)) }
        guard let (collection, entityName) = objectCollection(depth: depth),
            case .subquery = collection,
            let steps = random.pick(paths.entries[entityName]?.single[.attribute(type)] ?? [])
        else { return manyPath(to: .attribute(type)) }
        note("properties of a subquery")
        return .keyPath(collection, steps)
    }

    private mutating func aggregate(giving type: AttributeType, depth: Int) -> QueryExpression? {
        var choices: [(AggregateFunction, AttributeType)] = [(.mode, type)]
        if Self.isOrderable(type) { choices += [(.minimum, type), (.maximum, type)] }
        switch type {
        case .int64:
            choices += [(.count, attributeType()), (.countDistinct, attributeType())]
            choices += [(.sum, .int64), (.sum, .int16), (.sum, .int32)]
        case .decimal: choices += [(.sum, type), (.average, type), (.median, type)]
        case .double:
            choices += [
                (.average, .int64), (.average, .int16), (.median, .int32), (.stddev, .int16),
                (.stddev, .int64), (.stddev, .int32), (.stddev, .decimal),
                (.sum, .double), (.average, .double), (.stddev, .double),
                (.sum, .float), (.average, .float), (.stddev, .float),
                (.median, .double), (.median, .float), (.median, .int64),
            ]
        default: break
        }
        guard let (function, element) = random.pick(choices),
            let path = manyAttribute(element, depth: depth)
        else { return nil }
        note("@\(function)")
        return .collection(function, path)
    }
}
