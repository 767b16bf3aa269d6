import FoundationEssentials
import LarderModel
import TestSupport

extension PredicateGenerator {
    private static let members = [
        ["a"], ["b", "c"], ["a", "0"], ["b", "c", "0"], ["0"], ["0", "a"], ["a", "k"], ["none"],
    ]

    private mutating func extended(_ document: QueryExpression) -> QueryExpression {
        guard case .keyPath(let base, let steps) = document else { return document }
        return .keyPath(base, steps + (random.pick(Self.members) ?? ["a"]))
    }

    /// A member of a JSON document, or another value for nil.
    mutating func coalescedMember(_ type: AttributeType) -> QueryExpression? {
        guard let document = singlePath(to: .attribute(.json)) else { return nil }
        note("member")
        return .function(
            .coalesce,
            [extended(document), .constant(RandomValue.value(of: type, &random))])
    }

    /// A member of a JSON document, or one of several.
    mutating func json() -> QueryExpression? {
        if random.once(in: 6) {
            let functions: [AggregateFunction] = [.minimum, .maximum, .mode]
            guard let function = random.pick(functions), let elements = elements() else {
                return nil
            }
            note("@\(function) of JSON")
            return .collection(function, elements)
        }
        guard let document = singlePath(to: .attribute(.json)) else { return nil }
        note("member")
        return extended(document)
    }

    /// JSON that no text is compared with, because a text beside a document is a document.
    mutating func anyJSON() -> QueryExpression? {
        random.once(in: 4) ? singlePath(to: .attribute(.json)) : json()
    }

    /// Members of many documents, or the elements of an array.
    mutating func elements() -> QueryExpression? {
        if random.once(in: 2), let documents = manyPath(to: .attribute(.json)) {
            return extended(documents)
        }
        note("array")
        return singlePath(to: .attribute(.json)).map { document in
            random.once(in: 3) ? document : extended(document)
        }
    }

    /// A value that JSON has.
    private mutating func jsonValue() -> Value {
        switch random.number(0...5) {
        case 0: return .int(Int64(random.number(-2...10)))
        case 1: return RandomValue.value(of: .double, &random)
        case 2: return .bool(random.once(in: 2))
        case 3: return random.once(in: 2) ? "Ann" : RandomValue.value(of: .string, &random)
        case 4: return RandomValue.value(of: random.once(in: 2) ? .decimal : .int64, &random)
        default: return .json(random.pick(RandomValue.documents) ?? "1")
        }
    }

    /// A value that is compared with a member: mostly one that JSON has.
    private mutating func jsonLiteral() -> QueryExpression {
        let types: [AttributeType] = [.date, .uuid, .url]
        switch random.number(0...19) {
        case 0: return literal(.null)
        case 1: return literal(RandomValue.value(of: random.pick(types) ?? .date, &random))
        default: return literal(jsonValue())
        }
    }

    private mutating func jsonOperator() -> Comparison.Operator {
        let operators: [Comparison.Operator] = [
            .equal, .equal, .notEqual, .lessThan, .lessThanOrEqual, .greaterThan,
            .greaterThanOrEqual,
        ]
        let name = random.pick(operators) ?? .equal
        note("\(name.rawValue) of JSON")
        return name
    }

    /// A comparison of JSON with a value, an attribute, other JSON or a list.
    mutating func memberComparison(depth: Int) -> QueryExpression? {
        switch random.number(0...11) {
        case 0, 1: return jsonList()
        case 2, 3: return jsonArray()
        case 4: return memberText(depth: depth)
        default: break
        }
        guard let left = json() else { return nil }
        return memberComparison(left, .direct, depth: depth)
    }

    /// A comparison of members of many documents.
    mutating func membersComparison(
        _ documents: QueryExpression, _ modifier: Comparison.Modifier, depth: Int
    ) -> QueryExpression? {
        memberComparison(extended(documents), modifier, depth: depth)
    }

    /// Such a comparison of one side.
    private mutating func memberComparison(
        _ left: QueryExpression, _ modifier: Comparison.Modifier, depth: Int
    ) -> QueryExpression? {
        let right: QueryExpression
        switch random.number(0...7) {
        case 0:
            guard let other = anyJSON() else { return nil }
            note("two members")
            right = other
        case 1, 2:
            let types: [AttributeType] = [
                .int64, .int16, .double, .float, .decimal, .string, .bool, .date, .uuid,
            ]
            let type = random.pick(types) ?? .int64
            guard let other = operand(type, depth: depth - 1) else { return nil }
            note("member with \(type)")
            let isOrdered = Self.isOrderable(type)
            return comparison(left, isOrdered ? jsonOperator() : .equal, other, modifier)
        default: right = jsonLiteral()
        }
        return comparison(left, jsonOperator(), right, modifier)
    }

    private mutating func comparison(
        _ left: QueryExpression, _ name: Comparison.Operator, _ right: QueryExpression,
        _ modifier: Comparison.Modifier
    ) -> QueryExpression {
        if modifier == .direct, random.once(in: 4) {
            return .comparison(Comparison(right, name, left))
        }
        return .comparison(Comparison(left, name, right, modifier: modifier))
    }

    /// IN and BETWEEN, also with a list as an argument.
    private mutating func jsonList() -> QueryExpression? {
        guard let left = json() else { return nil }
        let isBetween = random.once(in: 2)
        note(isBetween ? "BETWEEN of JSON" : "IN of JSON")
        let name: Comparison.Operator = isBetween ? .between : .in
        let count = isBetween ? 2 : random.number(0...4)
        if random.once(in: 2) {
            note("list argument")
            var values = (0..<count).map { _ in jsonValue() }
            if !values.isEmpty, random.once(in: 4) { values[0] = .null }
            arguments.append(.list(values))
            return .comparison(Comparison(left, name, .argument(arguments.count - 1)))
        }
        var elements = (0..<count).map { _ in literal(jsonValue()) }
        if random.once(in: 4), let operand = operand(.int64, depth: 0) {
            elements = elements.map { _ in literal(.int(Int64(random.number(-2...10)))) }
            elements.append(operand)
            if isBetween { elements.removeFirst() }
        }
        return .comparison(Comparison(left, name, .list(elements)))
    }

    /// The elements of an array.
    private mutating func jsonArray() -> QueryExpression? {
        guard let array = elements() else { return nil }
        switch random.number(0...4) {
        case 0:
            note("@count of an array")
            let number = literal(.int(Int64(random.number(0...3))))
            let function: AggregateFunction = random.once(in: 3) ? .countDistinct : .count
            return comparison(.collection(function, array), jsonOperator(), number, .direct)
        case 1:
            let functions: [AggregateFunction] = [.sum, .average, .median, .stddev]
            let function = random.pick(functions) ?? .sum
            note("@\(function) of an array")
            return comparison(
                .collection(function, array), jsonOperator(), literal(.double(1.5)), .direct)
        case 2:
            note("IN an array")
            return .comparison(Comparison(jsonLiteral(), .in, array))
        case 3:
            note("CONTAINS of an array")
            return .comparison(Comparison(array, .contains, jsonLiteral()))
        default:
            let modifier: Comparison.Modifier = random.once(in: 2) ? .any : .all
            note("\(modifier) of an array")
            return memberComparison(array, modifier, depth: 0)
        }
    }

    /// Members as strings.
    private mutating func memberText(depth: Int) -> QueryExpression? {
        guard let left = json() else { return nil }
        note("text of a member")
        return comparison(left, .string, .direct, depth: depth)
    }
}
