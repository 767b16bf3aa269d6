import FoundationEssentials
import LarderModel
import TestSupport

extension PredicateGenerator {
    /// A value as a constant or as an argument.
    mutating func literal(_ value: Value) -> QueryExpression {
        if random.once(in: 2) { return .constant(value) }
        arguments.append(.value(value))
        return .argument(arguments.count - 1)
    }

    /// A value that is compared with one of a type. Invalid values are constants, since an argument
    /// may not be read in all contexts.
    mutating func literal(comparedWith type: AttributeType) -> QueryExpression {
        let value = value(comparedWith: type)
        if case .int(let integer) = value, type == .float || type == .double,
            Double(exactly: integer) == nil
        {
            return .constant(value)
        }
        // An integer or a double may reject a decimal.
        if case .decimal = value, type != .decimal { return .constant(value) }
        // An integer may also be compared with a decimal.
        if case .double = value, value.converted(to: .decimal) == nil { return .constant(value) }
        return literal(value)
    }

    /// A value that is compared with one of a type; often a stored value, so that it is found.
    mutating func value(comparedWith type: AttributeType) -> Value {
        if random.once(in: 12) { return .null }
        if random.once(in: 2), let stored = storedValue(of: type) { return stored }
        switch type {
        case .int16, .int32, .int64, .float, .double:
            let types: [AttributeType] = [type, type, .int64, .double, .decimal]
            return RandomValue.value(of: random.pick(types) ?? type, &random)
        case .decimal:
            if random.once(in: 4) { return .int(random.pick(RandomValue.integers) ?? 0) }
            if random.once(in: 4) { return .double(random.pick([0.1, 1.5, 9.99, 2, -2.5]) ?? 0) }
            return RandomValue.value(of: type, &random)
        default: return RandomValue.value(of: type, &random)
        }
    }

    /// The stored value of an attribute of the type.
    mutating func storedValue(of type: AttributeType) -> Value? {
        for _ in 0..<4 {
            guard let object = random.pick(store.identifiers),
                let entity = store.schema.entity(named: object.entityName),
                let attribute = random.pick(entity.attributes.filter { $0.type == type }),
                let value = store.read(object, attribute.name), !value.isNull
            else { continue }
            return value
        }
        return nil
    }

    /// Part of a stored string, cut between or within characters.
    mutating func stringPart(_ name: Comparison.Operator) -> String {
        guard case .string(let text) = storedValue(of: .string) else { return "a" }
        if random.once(in: 4), case .string(let other) = value(comparedWith: .string) {
            return other
        }
        if random.once(in: 4) {
            let scalars = Array(text.unicodeScalars)
            let start = random.number(0...scalars.count)
            let end = random.number(start...scalars.count)
            return String(String.UnicodeScalarView(scalars[start..<end]))
        }
        switch name {
        case .beginsWith: return String(text.prefix(random.number(0...2)))
        case .endsWith: return String(text.suffix(random.number(0...2)))
        default: return String(text.dropFirst(random.number(0...1)).prefix(random.number(0...2)))
        }
    }

    mutating func likePattern() -> String {
        guard case .string(let text) = storedValue(of: .string) else { return "*" }
        var pattern = ""
        for character in text {
            switch random.number(0...5) {
            case 0: pattern += "?"
            case 1: pattern += "*"
            case 2: pattern += "*\(character)"
            case 3: pattern += random.once(in: 3) ? "\\\(character)" : String(character)
            default: pattern.append(character)
            }
        }
        return random.once(in: 3) ? pattern + "*" : pattern
    }

    mutating func regularExpression() -> String {
        let known = [
            ".*", ".", "..", "[a-e].*", "\\w+", "(a|b|é)+.*", ".*\\d+", "\\p{Lu}.*", "", "a?b*",
            "\\X", "(?i)a.*", "[^a]*", "ß|ss", "(?s).*", ".*e.*",
        ]
        if random.once(in: 2), case .string(let text) = storedValue(of: .string) {
            return text.map { character in
                String(character).unicodeScalars.allSatisfy {
                    $0.properties.isAlphabetic || !$0.isASCII
                } ? String(character) : "."
            }.joined()
        }
        return random.pick(known) ?? ".*"
    }

    /// A comparison of two literals.
    mutating func literals() -> QueryExpression {
        note("literals")
        let types: [AttributeType] = [.bool, .int64, .double, .string, .date, .decimal, .uuid]
        let type = random.pick(types) ?? .int64
        var operators: [Comparison.Operator] = [.equal, .notEqual]
        if type != .bool { operators += [.lessThan, .greaterThanOrEqual] }
        let left = random.once(in: 8) ? Value.null : RandomValue.value(of: type, &random)
        return .comparison(
            Comparison(
                literal(left), random.pick(operators) ?? .equal,
                literal(RandomValue.value(of: type, &random))))
    }

    mutating func objectLiteral(_ entityName: String) -> QueryExpression {
        if random.once(in: 6) { return literal(.null) }
        let known = store.objects(of: entityName)
        if random.once(in: 8), let object = random.pick(known) {
            // With the name of another entity it identifies no object, which is not an error.
            return literal(
                .object(
                    PersistentIdentifier(
                        store: store.storeIdentifier, entityName: entityName,
                        key: object.permanentKey ?? 0)))
        }
        if let object = random.pick(known), !random.once(in: 8) { return literal(.object(object)) }
        // An object that does not exist is not an error.
        return literal(
            .object(
                PersistentIdentifier(
                    store: store.storeIdentifier, entityName: entityName, key: 1_000)))
    }
}
