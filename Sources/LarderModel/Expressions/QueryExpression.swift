/// The one tree of predicates and expressions, whichever front end wrote it.
///
/// A predicate is an expression whose value is a Bool. The meaning is Swift's, not SQL's: nil
/// equals nil, an order comparison with nil is false, and `not` never yields unknown. The tree says
/// nothing of entities or types; the planner resolves it against a schema.
public indirect enum QueryExpression: Hashable, Sendable {
    case constant(Value)
    /// The value at this place, from 0, among the arguments that come with the query.
    case argument(Int)
    /// The right side of `in` and `between`, where that is no value which is a list itself.
    case list([QueryExpression])

    /// The object that the predicate is asked about: `SELF`.
    case object
    /// The object that an enclosing `subquery` is asked about, or else the value that comes under
    /// this name with the query: `$a` is `variable("a")`.
    case variable(String)
    /// Steps from `object`, a `variable` or the objects of a `subquery` through relationships to a
    /// property, and from a json attribute on into its document; at least one step.
    case keyPath(QueryExpression, [String])

    /// A value computed over a to-many key path or a subquery: `articles.@count`.
    case collection(AggregateFunction, QueryExpression)
    /// The objects of a to-many key path for which the predicate holds.
    case subquery(QueryExpression, variable: String, predicate: QueryExpression)

    /// A value computed of the object's own: `wordCount * 2`, `length(title)`.
    case function(ScalarFunction, [QueryExpression])

    case comparison(Comparison)
    /// Whether the object that `object`, a `variable` or a to-one key path stands for is of an
    /// entity or of one below it: `owner IS Student`. False where there is no object.
    case typeTest(QueryExpression, entityName: String)
    case and([QueryExpression])
    case or([QueryExpression])
    case not(QueryExpression)

    /// The collection over whose elements ANY and ALL compute this expression: the first in it that
    /// belongs to no operator of collections; nil if there is none.
    public func quantifiedCollection(
        where isCollection: (QueryExpression) throws(LarderError) -> Bool
    ) throws(LarderError) -> QueryExpression? {
        if try isCollection(self) { return self }
        switch self {
        case .function, .list, .and, .or, .not: break
        case .comparison(let comparison) where comparison.modifier == .direct: break
        default: return nil
        }
        for child in children {
            if let found = try child.quantifiedCollection(where: isCollection) { return found }
        }
        return nil
    }

    public var isSubquery: Bool { if case .subquery = self { true } else { false } }

    /// The key path from the object that the query is about; `path` is dotted and not empty.
    public static func keyPath(_ path: String) -> QueryExpression {
        .keyPath(
            .object, path.split(separator: ".", omittingEmptySubsequences: false).map(String.init))
    }
}

/// Two sides, how they are compared, and, for to-many key paths, of how many it must hold.
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
        /// The strings are compared as they stand in the store; stands alone.
        public static let normalized = Options(rawValue: 4)
    }

    /// Of how many elements of a to-many left side the comparison must hold.
    public enum Modifier: UInt32, Hashable, Sendable, CaseIterable {
        /// The left side is a single value.
        case direct
        /// At least one; false over none.
        case any
        /// Every one; true over none.
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
