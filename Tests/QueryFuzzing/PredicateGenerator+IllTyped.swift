import FoundationEssentials
import LarderModel
import TestSupport

extension PredicateGenerator {
    /// The predicate combined with an ill-typed one.
    mutating func spoiled(_ predicate: QueryExpression) -> QueryExpression {
        guard let invalid = illTyped() else { return predicate }
        note("ill-typed")
        switch random.number(0...3) {
        case 0: return .and([predicate, invalid])
        case 1: return .or([invalid, predicate])
        case 2: return .not(invalid)
        default: return invalid
        }
    }

    private mutating func illTyped() -> QueryExpression? {
        switch random.number(0...9) {
        case 0: return .comparison(Comparison(.keyPath("nothing"), .equal, .constant(1)))
        case 1: return .keyPath(.variable("none"), ["nothing"])
        case 2: return unlikeTypes()
        case 3: return unlikeLiteral()
        case 4: return .comparison(Comparison(.list([]), .equal, .constant(1)))
        case 5: return orderOfUnordered()
        case 6: return stringOperatorOfOther()
        case 7: return manyWithoutModifier()
        case 8: return singleWithModifier()
        default: return .object
        }
    }

    private mutating func unlikeTypes() -> QueryExpression? {
        let pairs: [(AttributeType, AttributeType)] = [
            (.string, .int64), (.bool, .int64), (.date, .double), (.decimal, .double),
            (.uuid, .string), (.data, .string), (.url, .string), (.decimal, .float),
        ]
        guard let (one, other) = random.pick(pairs), let left = singlePath(to: .attribute(one)),
            let right = singlePath(to: .attribute(other))
        else { return nil }
        return .comparison(Comparison(left, .equal, right))
    }

    private mutating func unlikeLiteral() -> QueryExpression? {
        let pairs: [(AttributeType, Value)] = [
            (.int64, "a"), (.string, 1), (.bool, 2), (.double, "1.5"), (.int64, .double(.nan)),
            (.double, .double(.nan)), (.decimal, .double(.infinity)), (.date, 1), (.uuid, "x"),
            (.decimal, "x"), (.data, "*"), (.int32, true), (.string, true),
            (.decimal, .double(.nan)),
        ]
        guard let (type, value) = random.pick(pairs), let left = singlePath(to: .attribute(type))
        else { return nil }
        return .comparison(
            random.once(in: 3)
                ? Comparison(.constant(value), .equal, left)
                : Comparison(left, .in, .list([.constant(value)])))
    }

    private mutating func orderOfUnordered() -> QueryExpression? {
        let types: [AttributeType] = [.bool, .url, .data]
        guard let type = random.pick(types), let path = singlePath(to: .attribute(type)) else {
            return nil
        }
        return .comparison(Comparison(path, .lessThan, .constant(.null)))
    }

    private mutating func stringOperatorOfOther() -> QueryExpression? {
        guard let path = singlePath(to: .attribute(.int64)) else { return nil }
        return random.once(in: 2)
            ? .comparison(Comparison(path, .beginsWith, .constant(.null)))
            : .comparison(Comparison(path, .equal, .constant(1), options: .caseInsensitive))
    }

    private mutating func manyWithoutModifier() -> QueryExpression? {
        guard let path = manyPath(to: .attribute(.int64)) else { return nil }
        return .comparison(Comparison(path, .greaterThan, .constant(1)))
    }

    private mutating func singleWithModifier() -> QueryExpression? {
        guard let path = singlePath(to: .attribute(.int64)) else { return nil }
        return .comparison(Comparison(path, .greaterThan, .constant(1), modifier: .any))
    }
}
