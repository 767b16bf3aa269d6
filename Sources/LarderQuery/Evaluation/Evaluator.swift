import FoundationEssentials
import LarderModel

/// Evaluates queries over values in memory, with the meaning that `docs/queries.md` defines.
///
/// An evaluator is created for a schema, an entity and parameters. Like the store's planner it
/// types an expression first, and converts its arguments to the types they are compared with. The
/// result can be evaluated for any number of objects.
///
/// - `Typing/QueryTyper.swift` and its extensions check names and types,
/// - `ValueBinding.swift` binds the result to the values of the query,
/// - `Evaluation.swift` and its extensions compute it for one object.
///
/// It shares types and the rules for single functions with SQL and nothing else, so that a property
/// test can compare the two implementations.
package struct Evaluator: Sendable {
    /// Reads a property of an object: the value of an attribute, the object of a to-one
    /// relationship or nil, the objects of a to-many relationship in their order. Returns nil for
    /// an object that does not exist.
    package typealias Reader = (_ object: PersistentIdentifier, _ property: String) -> Value?

    /// Returns whether the whole text matches a regular expression: the operator MATCHES.
    ///
    /// The matcher handles the options `[c]` and `[d]` and limits its own work.
    package typealias Matcher =
        @Sendable (_ text: String, _ pattern: String, _ options: Comparison.Options)
        throws(LarderError) -> Bool

    let schema: Schema
    let entity: Entity
    let parameters: QueryParameters
    let store: UUID?
    let now: Date
    let matcher: Matcher?
    private let sourceMaps: [FormatSourceMap]

    /// - Parameters:
    ///   - store: The store to which objects in arguments must belong; nil to accept objects of any
    ///     store. Temporary identifiers are always accepted.
    ///   - now: The value of `now()`.
    ///   - matcher: Without a matcher, MATCHES throws `unsupported`.
    ///   - sourceMaps: Those of the format strings of the expressions, so that an error has a
    ///     column.
    /// - Throws: `unknownEntity`; `resourceExhausted` for parameters that exceed ``Limits``.
    package init(
        schema: Schema, entityName: String, parameters: QueryParameters = QueryParameters(),
        store: UUID? = nil, now: Date, matcher: Matcher? = nil,
        sourceMaps: [FormatSourceMap] = []
    ) throws(LarderError) {
        entity = try schema.existingEntity(named: entityName)
        try parameters.checkLimits()
        self.schema = schema
        self.parameters = parameters
        self.store = store
        self.now = now
        self.matcher = matcher
        self.sourceMaps = sourceMaps
    }

    /// Checks a predicate against the schema.
    ///
    /// - Throws: The error in the predicate, before any object is read.
    package func predicate(_ expression: QueryExpression) throws(LarderError) -> EvaluatedPredicate
    {
        try expression.checkLimits()
        let typed = try makeTyper().predicate(expression)
        return EvaluatedPredicate(
            predicate: try ValueBinding(evaluator: self).predicate(typed), evaluator: self)
    }

    /// Checks an expression that has one value per object against the schema.
    ///
    /// - Throws: The error in the expression, before any object is read.
    package func expression(
        _ expression: QueryExpression
    ) throws(LarderError) -> EvaluatedExpression {
        try expression.checkLimits()
        let typed = try makeTyper().operand(expression)
        return EvaluatedExpression(
            operand: try ValueBinding(evaluator: self).operand(typed), evaluator: self)
    }

    /// A typer of one expression.
    func makeTyper() throws(LarderError) -> QueryTyper {
        try QueryTyper(
            entityName: entity.name, conversion: conversion,
            source: ExpressionSource(parameters, sourceMaps: sourceMaps))
    }

    var conversion: QueryValueConversion {
        var conversion = QueryValueConversion(
            schema: schema, store: store, acceptsTemporaryObjects: true)
        conversion.sourceMaps = sourceMaps
        return conversion
    }
}

/// A predicate that has been checked against the schema and can be evaluated for objects.
package struct EvaluatedPredicate: Sendable {
    let predicate: BoundPredicate
    let evaluator: Evaluator

    /// Returns whether the object satisfies the predicate.
    ///
    /// - Throws: `arithmeticOverflow` for a sum that exceeds its type; `resourceExhausted` for a
    ///   string match that takes too long, and for a function whose text would be too long.
    package func holds(
        for object: PersistentIdentifier, reading reader: @escaping Evaluator.Reader
    ) throws(LarderError) -> Bool {
        var evaluation = Evaluation(evaluator, object, reader)
        return try evaluation.holds(predicate)
    }
}

/// An expression that has been checked against the schema and can be evaluated for objects.
package struct EvaluatedExpression: Sendable {
    let operand: BoundOperand
    let evaluator: Evaluator

    /// Returns the value of the expression for the object.
    ///
    /// - Throws: The errors of ``EvaluatedPredicate/holds(for:reading:)``.
    package func value(
        for object: PersistentIdentifier, reading reader: @escaping Evaluator.Reader
    ) throws(LarderError) -> Value {
        var evaluation = Evaluation(evaluator, object, reader)
        return try evaluation.value(of: operand)
    }
}
