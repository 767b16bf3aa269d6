public import FoundationEssentials
public import LarderModel

/// A `#Predicate` or `#Expression` as an expression of the store, with its arguments.
///
/// Captured values and literals, except nil and Bool, become arguments. So the same closure with
/// other values has the same expression, for which the server has a plan.
public struct BoundExpression: Hashable, Sendable {
    public var expression: QueryExpression
    /// The values of the expression's arguments, in the order of their indices.
    public var arguments: [QueryArgument]

    /// Translates a predicate.
    ///
    /// - Parameter first: The index of the first argument, if other arguments come before it.
    /// - Throws: `unsupportedPredicate` with the part that the store cannot evaluate;
    ///   `resourceExhausted` for a tree or a list that is too large.
    public init<Entity: QueryableEntity>(
        _ predicate: Predicate<Entity>, argumentsFrom first: Int = 0
    ) throws(LarderError) {
        var translation = Translation(Entity.self)
        translation.bind(predicate.variable, to: .computed(.object))
        let term = try translation.term(predicate.expression)
        try self.init(translation.predicate(term), translation.arguments, from: first)
    }

    /// Translates an expression.
    ///
    /// - Parameter first: The index of the first argument, if other arguments come before it.
    /// - Throws: as for a predicate.
    public init<Entity: QueryableEntity, Output>(
        _ expression: Expression<Entity, Output>, argumentsFrom first: Int = 0
    ) throws(LarderError) {
        var translation = Translation(Entity.self)
        translation.bind(expression.variable, to: .computed(.object))
        let term = try translation.term(expression.expression)
        try self.init(translation.operand(term), translation.arguments, from: first)
    }

    /// Translates a predicate over the result columns of an aggregate.
    ///
    /// - Parameters:
    ///   - names: The names of the columns, one for each variable of the predicate.
    ///   - entity: The entity of the aggregate.
    ///   - first: The index of the first argument, if other arguments come before it.
    /// - Throws: as for a predicate over an entity.
    package init<each Column>(
        _ predicate: Predicate<repeat each Column>, overColumns names: [String],
        of entity: any QueryableEntity.Type, argumentsFrom first: Int
    ) throws(LarderError) {
        var translation = Translation(entity)
        var next = 0
        for variable in repeat each predicate.variable {
            translation.bind(variable, to: .computed(.keyPath(.object, [names[next]])))
            next += 1
        }
        let term = try translation.term(predicate.expression)
        try self.init(translation.predicate(term), translation.arguments, from: first)
    }

    /// Numbers the arguments again, because simplification may have removed or repeated some.
    private init(
        _ translated: QueryExpression, _ captured: [QueryArgument], from first: Int
    ) throws(LarderError) {
        var arguments: [QueryArgument] = []
        expression = translated.mappingArguments { index in
            arguments.append(captured[index])
            return first + arguments.count - 1
        }
        self.arguments = arguments
        try expression.checkLimits()
    }
}

extension QueryExpression {
    /// The tree with other argument indices. The closure gets the old indices in the order of
    /// a format string.
    fileprivate func mappingArguments(_ index: (Int) -> Int) -> QueryExpression {
        func mapped(_ operands: [QueryExpression]) -> [QueryExpression] {
            operands.map { $0.mappingArguments(index) }
        }
        switch self {
        case .argument(let old): return .argument(index(old))
        case .constant, .object, .variable: return self
        case .list(let elements): return .list(mapped(elements))
        case .keyPath(let base, let steps): return .keyPath(base.mappingArguments(index), steps)
        case .collection(let function, let operand):
            return .collection(function, operand.mappingArguments(index))
        case .subquery(let collection, let variable, let predicate):
            let collection = collection.mappingArguments(index)
            return .subquery(
                collection, variable: variable, predicate: predicate.mappingArguments(index))
        case .function(let function, let operands): return .function(function, mapped(operands))
        case .comparison(var comparison):
            comparison.left = comparison.left.mappingArguments(index)
            comparison.right = comparison.right.mappingArguments(index)
            return .comparison(comparison)
        case .typeTest(let operand, let entityName):
            return .typeTest(operand.mappingArguments(index), entityName: entityName)
        case .and(let operands): return .and(mapped(operands))
        case .or(let operands): return .or(mapped(operands))
        case .not(let operand): return .not(operand.mappingArguments(index))
        }
    }
}
