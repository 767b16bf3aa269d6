/// Gives names and types to an expression: what the store's planner does for SQL.
///
/// - `ExpressionTyper+KeyPath.swift` follows key paths,
/// - `ExpressionTyper+Comparison.swift` and `…+Predicate.swift` check predicates,
/// - `ExpressionTyper+Literal.swift` gives literals the type of what they stand beside.
///
/// Its recursion is bounded: whoever makes one has checked the tree against ``Limits``.
struct ExpressionTyper {
    let evaluator: Evaluator
    /// The variables of the enclosing SUBQUERYs.
    var variables: [String: TypedPlace] = [:]
    /// How many places are taken: the object's own, and one for each enclosing predicate that is
    /// asked of elements.
    var placeCount = 1
    /// What the collection of an enclosing ANY or ALL stands for: each of its elements.
    var element: (collection: QueryExpression, operand: TypedOperand, member: [String])?

    init(_ evaluator: Evaluator) { self.evaluator = evaluator }
}

/// An object within reach.
struct TypedPlace {
    let entity: Entity
    let place: Int
}

/// One value, and what is known of it before any object is asked.
struct TypedOperand {
    var expression: TypedExpression
    /// Nil for a literal: only what it stands beside could tell.
    var type: OperandType?
    /// For sentences: `Article.title`.
    var name: String
}

/// Any number of values.
struct TypedElements {
    var collection: TypedCollection
    var type: OperandType
    /// The entity of the elements, if they are objects.
    var entity: Entity?
    /// The path on into their documents, if they are members of such.
    var member: [String] = []
    /// For sentences: `Article.title`.
    var name: String
}
