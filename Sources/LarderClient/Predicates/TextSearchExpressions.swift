public import FoundationEssentials
import LarderModel

// `search.contains($0)` in `#Predicate`. The macro supports functions by name, and `contains` is
// one of them.

extension PredicateExpressions {
    /// The expression for ``TextSearch/contains(_:)``.
    public struct TextSearchContains<
        Search: PredicateExpression, Object: PredicateExpression
    >: PredicateExpression
    where Object.Output: QueryableEntity, Search.Output == TextSearch<Object.Output> {
        public let search: Search
        public let object: Object

        public init(search: Search, object: Object) {
            self.search = search
            self.object = object
        }

        public func evaluate(_ bindings: PredicateBindings) throws -> Bool {
            try search.evaluate(bindings).contains(object.evaluate(bindings))
        }
    }

    /// The expression for ``TextSearch/score``.
    public struct TextSearchScore<
        Search: PredicateExpression, Object: PredicateExpression
    >: PredicateExpression
    where Object.Output: QueryableEntity, Search.Output == TextSearch<Object.Output> {
        public let search: Search
        public let object: Object

        public init(search: Search, object: Object) {
            self.search = search
            self.object = object
        }

        public func evaluate(_ bindings: PredicateBindings) throws -> Double {
            try search.evaluate(bindings).score(of: object.evaluate(bindings))
        }
    }

    // swift-format-ignore: AlwaysUseLowerCamelCase
    public static func build_contains<Search, Object>(
        _ search: Search, _ object: Object
    ) -> TextSearchContains<Search, Object> {
        TextSearchContains(search: search, object: object)
    }
}

extension PredicateExpressions.TextSearchContains: Sendable
where Search: Sendable, Object: Sendable {}
extension PredicateExpressions.TextSearchContains: Codable
where Search: Codable, Object: Codable {}
extension PredicateExpressions.TextSearchContains: StandardPredicateExpression
where Search: StandardPredicateExpression, Object: StandardPredicateExpression {}

extension PredicateExpressions.TextSearchScore: Sendable
where Search: Sendable, Object: Sendable {}
extension PredicateExpressions.TextSearchScore: Codable
where Search: Codable, Object: Codable {}
extension PredicateExpressions.TextSearchScore: StandardPredicateExpression
where Search: StandardPredicateExpression, Object: StandardPredicateExpression {}

extension PredicateExpressions.TextSearchContains: TranslatableExpression {
    func term(in translation: inout Translation) throws(LarderError) -> Term<Bool> {
        try translation.search(.search, search, object) { $0.contains($1) }
    }
}

extension PredicateExpressions.TextSearchScore: TranslatableExpression {
    func term(in translation: inout Translation) throws(LarderError) -> Term<Double> {
        try translation.search(.score, search, object) { $0.score(of: $1) }
    }
}

extension Translation {
    /// - Parameter decide: The result for a captured object.
    fileprivate mutating func search<
        Search: PredicateExpression, Object: PredicateExpression, Output
    >(
        _ function: ScalarFunction, _ search: Search, _ object: Object,
        decide: (TextSearch<Object.Output>, Object.Output) -> Output
    ) throws(LarderError) -> Term<Output>
    where Object.Output: QueryableEntity, Search.Output == TextSearch<Object.Output> {
        guard case .captured(let search) = try term(search) else {
            throw unsupported("a search that depends on the object")
        }
        switch try term(object) {
        case .captured(let object): return .captured(decide(search, object))
        case .computed(let object):
            var operands: [QueryExpression] = []
            for name in search.names { operands.append(try object.property(named: name)) }
            operands.append(argument(.value(.string(search.words))))
            return .computed(.function(function, operands))
        }
    }
}
