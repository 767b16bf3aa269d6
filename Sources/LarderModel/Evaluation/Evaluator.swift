public import FoundationEssentials

/// Answers queries over values in memory: what `docs/queries.md` says, without a database.
///
/// Made once of a schema, an entity and parameters. It checks an expression as the store's planner
/// does, with the same error codes, and gives its arguments the types of what they stand beside;
/// what it makes of it can then be asked of any number of objects.
///
/// - `ExpressionTyper.swift` and its extensions check names and types,
/// - `TypedExpression.swift` is the tree that comes of it,
/// - `Evaluation.swift` and its extensions compute it for one object.
///
/// It shares with SQL the rules of single functions and of types, and nothing else, so that a
/// property test can hold each to the other.
public struct Evaluator: Sendable {
    /// Reads a property of an object: an attribute's value, a to-one as an object or nil, a
    /// to-many as its objects, in their order if it is ordered. Nil for an object that is gone.
    public typealias Reader = (_ object: PersistentIdentifier, _ property: String) -> Value?

    /// Whether the whole text matches a regular expression: the operator MATCHES.
    ///
    /// `[c]` and `[d]` are the matcher's to follow. It bounds its own work.
    public typealias Matcher =
        @Sendable (_ text: String, _ pattern: String, _ options: Comparison.Options)
        throws(LarderError) -> Bool

    let schema: Schema
    let entity: Entity
    let parameters: QueryParameters
    let store: UUID?
    let now: Date
    let matcher: Matcher?

    /// - Parameters:
    ///   - store: The store whose objects arguments may name; nil if those of any may be named.
    ///     Temporary identifiers may always.
    ///   - now: What `now()` is.
    ///   - matcher: Without one MATCHES is refused as unsupported.
    /// - Throws: `unknownEntity`; `resourceExhausted` for parameters beyond ``Limits``.
    public init(
        schema: Schema, entityName: String, parameters: QueryParameters = QueryParameters(),
        store: UUID? = nil, now: Date, matcher: Matcher? = nil
    ) throws(LarderError) {
        guard let entity = schema.entity(named: entityName) else {
            throw LarderError(.unknownEntity, "there is no entity \"\(entityName.prefix(32))\"")
        }
        try parameters.checkLimits()
        self.schema = schema
        self.entity = entity
        self.parameters = parameters
        self.store = store
        self.now = now
        self.matcher = matcher
    }

    /// - Throws: What is wrong with the predicate, before any object is asked.
    public func predicate(_ expression: QueryExpression) throws(LarderError) -> EvaluatedPredicate {
        try expression.checkLimits()
        var typer = ExpressionTyper(self)
        return EvaluatedPredicate(predicate: try typer.predicate(expression), evaluator: self)
    }

    /// An expression with a value for each object.
    ///
    /// - Throws: What is wrong with the expression, before any object is asked.
    public func expression(
        _ expression: QueryExpression
    ) throws(LarderError) -> EvaluatedExpression {
        try expression.checkLimits()
        var typer = ExpressionTyper(self)
        return EvaluatedExpression(
            operand: try typer.operand(expression).expression, evaluator: self)
    }
}

/// A predicate that is ready to be asked of objects.
public struct EvaluatedPredicate: Sendable {
    let predicate: TypedPredicate
    let evaluator: Evaluator

    /// Whether the predicate holds for the object.
    ///
    /// - Throws: `arithmeticOverflow` for a sum beyond its type, and what the operators of strings
    ///   throw when a match takes too long.
    public func holds(
        for object: PersistentIdentifier, reading reader: @escaping Evaluator.Reader
    ) throws(LarderError) -> Bool {
        var evaluation = Evaluation(evaluator, object, reader)
        return try evaluation.holds(predicate)
    }
}

/// An expression that is ready to be computed of objects.
public struct EvaluatedExpression: Sendable {
    let operand: TypedExpression
    let evaluator: Evaluator

    /// The expression's value for the object.
    ///
    /// - Throws: As ``EvaluatedPredicate/holds(for:reading:)``.
    public func value(
        for object: PersistentIdentifier, reading reader: @escaping Evaluator.Reader
    ) throws(LarderError) -> Value {
        var evaluation = Evaluation(evaluator, object, reader)
        return try evaluation.value(of: operand)
    }
}
