public import LarderModel
public import TestSupport

/// Random predicates as format strings with arguments, about the objects of random stores, with the
/// outcome that Larder's own query has.
public struct FormatCases {
    public struct Case {
        public let entityName: String
        public let format: String
        public let arguments: [QueryArgument]
        /// The predicate with the values that are arguments of the format as constants.
        public let predicate: QueryExpression
        public let includesSubentities: Bool
        public let expected: Expected
    }

    public enum Expected: Equatable {
        /// The indexes of the store's objects.
        case objects(Set<Int>)
        case refused(ErrorCode)
        /// Whether it fails depends on the rows that are read first.
        case undecided
    }

    /// The number of predicates per set of objects.
    private static let casesOfStoreMax = 100

    private var random: SeededGenerator
    public private(set) var store: FuzzedStore
    private var paths: SchemaPaths
    private var casesOfStore = 0
    /// The number of cases with each operator, function and form.
    public private(set) var written: [String: Int] = [:]

    public init(_ random: SeededGenerator) throws {
        self.random = random
        store = try Self.store(&self.random)
        paths = SchemaPaths(store.schema)
    }

    /// A store whose documents are those that Foundation reads and writes as they are.
    private static func store(_ random: inout SeededGenerator) throws -> FuzzedStore {
        let schema = try RandomSchema.schema(&random)
        var drafts = RandomObjects.objects(of: schema, &random)
        for index in drafts.indices {
            for (name, value) in drafts[index].values {
                guard case .json(let text) = value else { continue }
                drafts[index].values[name] = .json(text.isPlainDocument ? text : #"{"a":1}"#)
            }
        }
        return try FuzzedStore(schema, drafts)
    }

    /// The operators, functions and forms that no case has covered so far.
    public var missing: [String] {
        QueryFuzzer.predicateForms.filter { written[$0] == nil }
    }

    /// The next case. It may have made another ``store``.
    public mutating func next() throws -> Case {
        if casesOfStore >= Self.casesOfStoreMax {
            store = try Self.store(&random)
            paths = SchemaPaths(store.schema)
            casesOfStore = 0
        }
        casesOfStore += 1
        while true {
            let entities = store.schema.entities
            let entityName = (random.pick(entities) ?? entities[0]).name
            var generator = PredicateGenerator(store, paths, about: entityName, random)
            var predicate = generator.query().predicate
            if generator.random.once(in: 20) { predicate = generator.spoiled(predicate) }
            random = generator.random
            let constants = predicate.withConstants(generator.arguments)
            // A JSON document is no value of a program, and NaN is none of a store. An AND or OR of
            // one value has no text: without it, nil would be compared and not unknown.
            guard !constants.hasForeignValue, !constants.hasConnectiveOfOne else { continue }
            for what in generator.written { written[what, default: 0] += 1 }
            return made(predicate, constants, generator.arguments, entityName)
        }
    }

    private mutating func made(
        _ predicate: QueryExpression, _ constants: QueryExpression, _ given: [QueryArgument],
        _ entityName: String
    ) -> Case {
        var arguments: [QueryArgument] = []
        let tree = predicate.withFormatArguments(given, &arguments)
        let includesSubentities = !random.once(in: 5)
        let query = QueryCase(
            entityName: entityName, predicate: tree, arguments: arguments,
            includesSubentities: includesSubentities)
        return Case(
            entityName: entityName, format: tree.format, arguments: arguments,
            predicate: constants, includesSubentities: includesSubentities,
            expected: expected(store.selected(query), entityName))
    }

    private func expected(_ outcome: QueryOutcome, _ entityName: String) -> Expected {
        let keys: [Int64]
        switch outcome {
        case .keys(let found): keys = found
        case .refused(let code): return outcome.dependsOnOrder ? .undecided : .refused(code)
        }
        let root = store.schema.entity(named: entityName).map { store.schema.root(of: $0).name }
        let found = store.identifiers.indices.filter { index in
            let identifier = store.identifiers[index]
            guard let key = identifier.permanentKey, keys.contains(key) else { return false }
            let own = store.schema.entity(named: identifier.entityName)
            return own.map { store.schema.root(of: $0).name } == root
        }
        return .objects(Set(found))
    }
}

extension QueryExpression {
    /// The expression with constants in place of its arguments.
    fileprivate func withConstants(_ given: [QueryArgument]) -> QueryExpression {
        guard case .argument(let index) = self else {
            return mapChildren { $0.withConstants(given) }
        }
        switch given[index] {
        case .value(let value): return .constant(value)
        case .list(let values): return .list(values.map { .constant($0) })
        }
    }

    fileprivate var hasForeignValue: Bool {
        switch self {
        case .constant(.json): true
        case .constant(.double(let double)): double.isNaN
        case .constant(.float(let float)): float.isNaN
        default: children.contains(where: \.hasForeignValue)
        }
    }

    fileprivate var hasConnectiveOfOne: Bool {
        switch self {
        case .and(let parts), .or(let parts):
            parts.count == 1 || parts.contains(where: \.hasConnectiveOfOne)
        default: children.contains(where: \.hasConnectiveOfOne)
        }
    }

    /// The expression with arguments in place of constants that no format has as they are, in the
    /// order in which they are formatted.
    fileprivate func withFormatArguments(
        _ given: [QueryArgument], _ taken: inout [QueryArgument]
    ) -> QueryExpression {
        switch self {
        case .constant(let value) where value.hasLiteral: return self
        case .constant(let value):
            taken.append(.value(value))
            return .argument(taken.count - 1)
        case .argument(let index):
            taken.append(given[index])
            return .argument(taken.count - 1)
        default: return mapChildren { $0.withFormatArguments(given, &taken) }
        }
    }
}

extension Value {
    /// Whether a format string has the value as a literal.
    fileprivate var hasLiteral: Bool {
        switch self {
        case .null, .bool, .int, .string: true
        case .double(let double): double.isFinite
        case .decimal: !QueryExpression.constant(self).format.hasPrefix("\"")
        case .float, .date, .uuid, .url, .data, .json, .object, .objects: false
        }
    }
}

extension String {
    /// Whether a JSON document has members, and no number with a fraction, an exponent or so many
    /// digits that Foundation rounds it.
    fileprivate var isPlainDocument: Bool {
        hasPrefix("{") && !contains(".") && firstMatch(of: /e-?4|00000|[0-9]{9}/) == nil
    }
}
