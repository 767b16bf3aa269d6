/// A predicate or an expression as a tree, independent of the syntax it was written in.
///
/// A predicate is an expression whose value is a Bool. The semantics are Swift's, not SQL's: nil
/// equals nil, an order comparison with nil is false, and `not` never yields unknown. The tree
/// contains no entities or types; the planner resolves it against a schema.
public indirect enum QueryExpression: Hashable, Sendable {
    case constant(Value)
    /// The value at this index in the arguments of the query.
    case argument(Int)
    /// The right side of `in` and `between`, unless it is a single value that is a list.
    case list([QueryExpression])

    /// The object that the predicate is evaluated for: `SELF`.
    case object
    /// The element of the enclosing `subquery` that declares this name, or else the value that the
    /// query supplies under it: `$a` is `variable("a")`.
    case variable(String)
    /// A path of at least one step from `object`, a `variable` or the objects of a `subquery`,
    /// through relationships to a property, and from a json attribute into its document.
    case keyPath(QueryExpression, [String])

    /// An aggregate over a to-many key path or a subquery: `articles.@count`.
    case collection(AggregateFunction, QueryExpression)
    /// The objects of a to-many key path that satisfy the predicate.
    case subquery(QueryExpression, variable: String, predicate: QueryExpression)

    /// A function of the object's own values: `wordCount * 2`, `length(title)`.
    case function(ScalarFunction, [QueryExpression])

    case comparison(Comparison)
    /// Whether the object that `object`, a `variable` or a to-one key path refers to is of an
    /// entity or one of its subentities: `owner IS Student`. False if there is no object.
    case typeTest(QueryExpression, entityName: String)
    case and([QueryExpression])
    case or([QueryExpression])
    case not(QueryExpression)

    /// The collection that ANY and ALL range over in this expression: the first one that is not the
    /// operand of a collection operator; nil if there is none.
    package func quantifiedCollection(
        where isCollection: (QueryExpression) throws(LarderError) -> Bool
    ) throws(LarderError) -> QueryExpression? {
        if try isCollection(self) { return self }
        switch self {
        // It has a collection of its own.
        case .function(.join, _): return nil
        case .function, .list, .and, .or, .not: break
        case .comparison(let comparison) where comparison.modifier == .direct: break
        default: return nil
        }
        for child in children {
            if let found = try child.quantifiedCollection(where: isCollection) { return found }
        }
        return nil
    }

    package var isSubquery: Bool { if case .subquery = self { true } else { false } }

    /// A key path from the queried object; `path` has one or more names separated by periods.
    public static func keyPath(_ path: String) -> QueryExpression {
        .keyPath(
            .object, path.split(separator: ".", omittingEmptySubsequences: false).map(String.init))
    }
}

/// A comparison of two sides, with options for strings and a quantifier for to-many key paths.
public struct Comparison: Hashable, Sendable {
    public enum Operator: String, Hashable, Sendable, CaseIterable {
        case equal = "=="
        case notEqual = "!="
        case lessThan = "<"
        case lessThanOrEqual = "<="
        case greaterThan = ">"
        case greaterThanOrEqual = ">="
        case `in` = "IN"
        case between = "BETWEEN"
        case beginsWith = "BEGINSWITH"
        case endsWith = "ENDSWITH"
        case contains = "CONTAINS"
        case like = "LIKE"
        case matches = "MATCHES"
    }

    /// How strings are compared: `[c]`, `[d]`, `[n]`.
    public struct Options: OptionSet, Hashable, Sendable {
        public let rawValue: UInt32
        public init(rawValue: UInt32) { self.rawValue = rawValue }
        public static let caseInsensitive = Options(rawValue: 1)
        public static let diacriticInsensitive = Options(rawValue: 2)
        /// Compares the strings as stored; cannot be combined with other options.
        public static let normalized = Options(rawValue: 4)
    }

    /// The quantifier of a comparison whose left side is to-many.
    public enum Modifier: UInt32, Hashable, Sendable, CaseIterable {
        /// The left side is a single value.
        case direct
        /// At least one element; false for an empty collection.
        case any
        /// Every element; true for an empty collection.
        case all
    }

    public var left: QueryExpression
    public var `operator`: Operator
    public var right: QueryExpression
    public var options: Options
    public var modifier: Modifier

    public init(
        _ left: QueryExpression, _ operator: Operator, _ right: QueryExpression,
        options: Options = [], modifier: Modifier = .direct
    ) {
        self.left = left
        self.operator = `operator`
        self.right = right
        self.options = options
        self.modifier = modifier
    }
}

extension QueryExpression {
    /// Whether it is a constant that is a decimal.
    var isDecimal: Bool {
        if case .constant(.decimal) = self { true } else { false }
    }
}
