/// A predicate or an expression in either of its two forms: Core Data's format string, or a tree.
/// The simplest expression is a key path.
public enum QueryTerm: Hashable, Sendable {
    case format(String)
    case tree(QueryExpression)
}

/// A named expression: a column of a fetch, or a group key of an aggregate.
public struct QueryColumn: Hashable, Sendable, ExpressibleByStringLiteral {
    /// The name of the result column.
    public var name: String
    public var term: QueryTerm

    /// An expression as a format string. The column's default name is the text.
    public init(_ text: String, name: String? = nil) {
        self.init(.format(text), name: name ?? text)
    }

    public init(_ term: QueryTerm, name: String) {
        self.name = name
        self.term = term
    }

    public init(stringLiteral text: String) { self.init(text) }
}

/// A sort key. In an aggregate or a distinct fetch, the expression may be the name of a result
/// column.
public struct SortKey: Hashable, Sendable, ExpressibleByStringLiteral {
    /// The position of rows whose key is nil.
    public enum NilPlacement: CaseIterable, Sendable {
        /// First in ascending order, last in descending order.
        case standard
        case first
        case last
    }

    public var term: QueryTerm
    public var isDescending: Bool
    public var nilPlacement: NilPlacement
    /// Any order other than `plain` requires strings.
    public var stringOrder: StringOrder

    /// An expression as a format string, usually a key path.
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

    /// An expression as a format string, in ascending order.
    public init(stringLiteral text: String) { self.init(.format(text)) }

    /// Whether nil precedes all values.
    package var nilComesFirst: Bool {
        switch nilPlacement {
        case .standard: !isDescending
        case .first: true
        case .last: false
        }
    }
}
