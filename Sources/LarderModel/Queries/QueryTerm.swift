/// A predicate, or an expression that has a value, as it arrives: Core Data's format string, or a
/// tree that a client built. A key path is the shortest expression.
public enum QueryTerm: Hashable, Sendable {
    case format(String)
    case tree(QueryExpression)
}

/// One expression with a name: a column of a fetch, or a group key of an aggregate.
public struct QueryColumn: Hashable, Sendable, ExpressibleByStringLiteral {
    /// The column's name in the answer.
    public var name: String
    public var term: QueryTerm

    /// An expression as text; without a name it is called what was written.
    public init(_ text: String, name: String? = nil) {
        self.init(.format(text), name: name ?? text)
    }

    public init(_ term: QueryTerm, name: String) {
        self.name = name
        self.term = term
    }

    public init(stringLiteral text: String) { self.init(text) }
}

/// An expression and a direction; of an aggregate or a distinct fetch the expression may be an
/// output's name.
public struct SortKey: Hashable, Sendable {
    /// Where rows go whose key is nil.
    public enum NilPlacement: CaseIterable, Sendable {
        /// First ascending, last descending.
        case standard
        case first
        case last
    }

    public var term: QueryTerm
    public var isDescending: Bool
    public var nilPlacement: NilPlacement
    /// Other than plain only for strings.
    public var stringOrder: StringOrder

    /// An expression as text, a key path above all.
    public init(
        _ text: String, descending: Bool = false, nilPlacement: NilPlacement = .standard,
        stringOrder: StringOrder = .plain
    ) {
        self.init(
            .format(text), descending: descending, nilPlacement: nilPlacement,
            stringOrder: stringOrder)
    }

    public init(
        _ term: QueryTerm, descending: Bool = false, nilPlacement: NilPlacement = .standard,
        stringOrder: StringOrder = .plain
    ) {
        self.term = term
        self.isDescending = descending
        self.nilPlacement = nilPlacement
        self.stringOrder = stringOrder
    }

    /// Whether nil stands in front of all values.
    public var nilComesFirst: Bool {
        switch nilPlacement {
        case .standard: !isDescending
        case .first: true
        case .last: false
        }
    }
}
