import LarderModel
import TestSupport

extension PredicateGenerator {
    private static let orders: [Comparison.Operator] = [
        .lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual,
    ]
    private static let stringOperators: [Comparison.Operator] = [
        .beginsWith, .endsWith, .contains, .like, .matches,
    ]

    static func isOrderable(_ type: AttributeType) -> Bool {
        switch type {
        case .bool, .url, .data: false
        default: true
        }
    }

    /// The types that are comparable with a type, including itself.
    private static func partners(of type: AttributeType) -> [AttributeType] {
        switch type {
        case .int16, .int32, .int64: [.int16, .int32, .int64, .float, .double, .decimal]
        case .float, .double: [.int16, .int32, .int64, .float, .double]
        case .decimal: [.int16, .int32, .int64, .decimal]
        default: [type]
        }
    }

    mutating func attributeType() -> AttributeType {
        // Every entity has strings and integers, and they have the most operators.
        if random.once(in: 3) { return .string }
        return random.pick(AttributeType.allCases) ?? .int64
    }

    mutating func comparison(depth: Int) -> QueryExpression? {
        let type = attributeType()
        guard let left = operand(type, depth: depth) else { return nil }
        return comparison(left, type, .direct, depth: depth)
    }

    /// A comparison whose left side is of the type.
    mutating func comparison(
        _ left: QueryExpression, _ type: AttributeType, _ modifier: Comparison.Modifier, depth: Int
    ) -> QueryExpression? {
        var operators: [Comparison.Operator] = [.equal, .notEqual]
        if Self.isOrderable(type) { operators += Self.orders }
        if type == .string { operators += Self.stringOperators }
        guard let name = random.pick(operators) else { return nil }
        var options: Comparison.Options = []
        if type == .string {
            options =
                random.pick([
                    [], [], .caseInsensitive, .diacriticInsensitive,
                    [
                        .caseInsensitive, .diacriticInsensitive,
                    ],
                ]) ?? []
        }
        note(name.rawValue)
        note("\(modifier)")
        if !options.isEmpty { note("\(name.rawValue)[\(options.rawValue)]") }
        let right = rightSide(type, name, depth: depth)
        // A literal on the left takes the type of the right side.
        let isSwapped = modifier == .direct && options.isEmpty && random.once(in: 5)
        if isSwapped, !Self.stringOperators.contains(name) {
            return .comparison(Comparison(right, name, left))
        }
        return .comparison(Comparison(left, name, right, options: options, modifier: modifier))
    }

    private mutating func rightSide(
        _ type: AttributeType, _ name: Comparison.Operator, depth: Int
    ) -> QueryExpression {
        switch name {
        case .like: return literal(.string(likePattern()))
        case .matches: return literal(.string(regularExpression()))
        case .beginsWith, .endsWith, .contains:
            if random.once(in: 4), let other = operand(.string, depth: depth - 1) { return other }
            return literal(random.once(in: 12) ? .null : .string(stringPart(name)))
        default:
            if random.once(in: 3), let partner = random.pick(Self.partners(of: type)),
                let other = operand(partner, depth: depth - 1)
            {
                note(partner == type ? "two operands" : "\(type) with \(partner)")
                return other
            }
            return literal(comparedWith: type)
        }
    }

    /// IN and BETWEEN.
    mutating func list(depth: Int) -> QueryExpression? {
        let type = attributeType()
        guard let left = operand(type, depth: depth) else { return nil }
        let modifier = Comparison.Modifier.direct
        if Self.isOrderable(type), random.once(in: 2) {
            note("BETWEEN")
            let bounds = (0..<2).map { _ in rightSide(type, .equal, depth: depth) }
            return .comparison(Comparison(left, .between, .list(bounds), modifier: modifier))
        }
        note("IN")
        let options: Comparison.Options =
            type == .string && random.once(in: 3) ? .caseInsensitive : []
        let elements = (0..<random.number(0...5)).map { _ in
            random.once(in: 5)
                ? rightSide(type, .equal, depth: depth) : literal(comparedWith: type)
        }
        return .comparison(
            Comparison(left, .in, .list(elements), options: options, modifier: modifier))
    }

    /// ANY and ALL.
    mutating func quantified(depth: Int) -> QueryExpression? {
        let modifier: Comparison.Modifier = random.once(in: 2) ? .any : .all
        if random.once(in: 4) { return quantifiedObjects(modifier, depth: depth) }
        if random.once(in: 6), let documents = manyPath(to: .attribute(.json)) {
            note("\(modifier) of members")
            return membersComparison(documents, modifier, depth: depth)
        }
        let type = attributeType()
        guard var left = manyPath(to: .attribute(type)) else { return nil }
        if random.once(in: 5), let computed = computed(of: left, type, depth: depth) {
            note("\(modifier) of computed values")
            left = computed
        }
        guard random.once(in: 5), Self.isOrderable(type) else {
            return comparison(left, type, modifier, depth: depth)
        }
        note("BETWEEN")
        let bounds = (0..<2).map { _ in literal(comparedWith: type) }
        return .comparison(Comparison(left, .between, .list(bounds), modifier: modifier))
    }

    /// A value of the type, computed for each element of a to-many key path.
    private mutating func computed(
        of elements: QueryExpression, _ type: AttributeType, depth: Int
    ) -> QueryExpression? {
        guard let other = singlePath(to: .attribute(type)) else { return nil }
        if random.once(in: 2) { return .function(.coalesce, [elements, other]) }
        let test =
            type == .bool && random.once(in: 2)
            ? elements : comparison(elements, type, .direct, depth: 0)
        guard let test else { return nil }
        return .function(
            .conditional, random.once(in: 2) ? [test, elements, other] : [test, other, elements])
    }

    /// A predicate used as a value.
    mutating func truthComparison(depth: Int) -> QueryExpression? {
        guard depth > 0 else { return nil }
        note("a predicate compared")
        let name: Comparison.Operator = random.once(in: 2) ? .equal : .notEqual
        let right =
            random.once(in: 2)
            ? predicate(depth: depth - 1) : literal(.bool(random.once(in: 2)))
        return .comparison(Comparison(predicate(depth: depth - 1), name, right))
    }

    private mutating func quantifiedObjects(
        _ modifier: Comparison.Modifier, depth: Int
    ) -> QueryExpression? {
        guard let (left, entityName) = objectCollection(depth: depth) else { return nil }
        note("\(modifier) of objects")
        let name: Comparison.Operator = random.once(in: 2) ? .equal : .notEqual
        return .comparison(
            Comparison(left, name, object(entityName, depth: depth), modifier: modifier))
    }

    /// An object in a to-many relationship, or a value in a to-many key path.
    mutating func membership(depth: Int) -> QueryExpression? {
        let collection: QueryExpression
        let member: QueryExpression
        if random.once(in: 2) {
            guard let (objects, entityName) = objectCollection(depth: depth) else { return nil }
            (collection, member) = (objects, object(entityName, depth: depth))
        } else {
            let type = attributeType()
            guard let path = manyPath(to: .attribute(type)) else { return nil }
            collection = path
            member = literal(comparedWith: type)
        }
        note("membership")
        return random.once(in: 2)
            ? .comparison(Comparison(collection, .contains, member))
            : .comparison(Comparison(member, .in, collection))
    }

    /// One object, from a key path or as a literal.
    private mutating func object(_ entityName: String, depth: Int) -> QueryExpression {
        if random.once(in: 2), let path = objectOperand(entityName) { return path }
        return objectLiteral(entityName)
    }

    /// Comparisons of objects, and objects in lists.
    mutating func objects(depth: Int) -> QueryExpression? {
        let names = store.schema.entities.map(\.name)
        guard let entityName = random.pick(names), let left = objectOperand(entityName) else {
            return nil
        }
        if random.once(in: 3) {
            note("IN objects")
            let known = store.objects(of: entityName)
            let list = (0..<random.number(0...4)).compactMap { _ in random.pick(known) }
            return .comparison(
                Comparison(left, .in, literal(random.once(in: 10) ? .null : .objects(list))))
        }
        note("objects")
        let name: Comparison.Operator = random.once(in: 2) ? .equal : .notEqual
        let related = store.schema.entities.map(\.name).filter {
            store.schema.areRelated($0, entityName)
        }
        var right = object(entityName, depth: depth)
        if random.once(in: 4), let other = objectOperand(random.pick(related) ?? entityName) {
            right = other
        }
        return .comparison(
            random.once(in: 4) ? Comparison(right, name, left) : Comparison(left, name, right))
    }

    /// A test of whether an object is of an entity of its hierarchy.
    mutating func typeTest() -> QueryExpression? {
        let schema = store.schema
        guard let entity = random.pick(schema.entities), let object = objectOperand(entity.name)
        else { return nil }
        let root = schema.root(of: entity)
        let tested = random.pick([root, entity] + schema.subentities(of: root.name)) ?? entity
        note("type test")
        return .typeTest(object, entityName: tested.name)
    }

    private mutating func objectOperand(_ entityName: String) -> QueryExpression? {
        let base = pickBase()
        if base.entityName == entityName, random.once(in: 3) { return base.expression }
        guard
            let steps = random.pick(
                paths.entries[base.entityName]?.single[.object(entityName)] ?? [])
        else { return nil }
        return .keyPath(base.expression, steps)
    }
}
