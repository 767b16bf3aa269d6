/// Resolves the names and types of an expression. The store's planner does the same for SQL.
///
/// - `ExpressionTyper+KeyPath.swift` resolves key paths,
/// - `ExpressionTyper+Comparison.swift` and `…+Predicate.swift` check predicates,
/// - `ExpressionTyper+Literal.swift` converts literals to the types they are compared with.
///
/// Its recursion is bounded: the caller has checked the tree against ``Limits``.
struct ExpressionTyper {
    let evaluator: Evaluator
    /// The variables declared by enclosing SUBQUERYs.
    var variables: [String: ObjectSlot] = [:]
    /// The number of slots in use: one for the object itself and one per enclosing element
    /// predicate.
    var slotCount = 1
    /// The collection of an enclosing ANY or ALL, and the operand that represents one element of
    /// it.
    var element: (collection: QueryExpression, operand: TypedOperand, member: [String])?

    init(_ evaluator: Evaluator) { self.evaluator = evaluator }
}

/// An object that a key path can begin at, and the slot that holds it.
struct ObjectSlot {
    let entity: Entity
    let index: Int
}

/// A single value with its type.
struct TypedOperand {
    var expression: TypedExpression
    /// Nil for a literal that is compared with nothing typed.
    var type: OperandType?
    /// The name in error messages, such as `Article.title`.
    var name: String
}

/// Any number of values of one type.
struct TypedElements {
    var collection: TypedCollection
    var type: OperandType
    /// The entity of the elements; nil if they are not objects.
    var entity: Entity?
    /// The path to members of the elements' JSON documents; empty for the elements themselves.
    var member: [String] = []
    /// The name in error messages, such as `Article.title`.
    var name: String
}
