public import FoundationEssentials
public import LarderModel

/// An expression and the values that fill it, as `#Predicate` or `#Expression` says them.
///
/// What Swift captured, and every literal but nil and a Bool, is an argument, so that the same
/// closure with other values is the same expression, for which the server has a plan.
public struct BoundExpression: Hashable, Sendable {
    public var expression: QueryExpression
    /// By place, in the order in which the expression names them.
    public var arguments: [QueryArgument]

    /// Translates a predicate of Swift's.
    ///
    /// - Parameter place: The place of the first argument, where others stand in front.
    /// - Throws: `unsupportedPredicate`, which names what a store cannot be asked;
    ///   `resourceExhausted` for a tree or a list that is too large.
    public init<Entity: QueryableEntity>(
        _ predicate: Predicate<Entity>, argumentsFrom place: Int = 0
    ) throws(LarderError) {
        var translation = Translation()
        translation.bind(predicate.variable, to: .computed(.object))
        let term = try translation.term(predicate.expression)
        try self.init(translation.predicate(term), translation.arguments, from: place)
    }

    /// Translates an expression of Swift's.
    ///
    /// - Parameter place: The place of the first argument, where others stand in front.
    /// - Throws: as for a predicate.
    public init<Entity: QueryableEntity, Output>(
        _ expression: Expression<Entity, Output>, argumentsFrom place: Int = 0
    ) throws(LarderError) {
        var translation = Translation()
        translation.bind(expression.variable, to: .computed(.object))
        let term = try translation.term(expression.expression)
        try self.init(translation.operand(term), translation.arguments, from: place)
    }

    /// Numbers the arguments anew: simplification may have left some out, and named some twice.
    private init(
        _ translated: QueryExpression, _ captured: [QueryArgument], from first: Int
    ) throws(LarderError) {
        var arguments: [QueryArgument] = []
        expression = translated.mappingArguments { place in
            arguments.append(captured[place])
            return first + arguments.count - 1
        }
        self.arguments = arguments
        try expression.checkLimits()
    }
}

extension QueryExpression {
    /// The same tree with other places of its arguments, asked for in the order of a format string.
    fileprivate func mappingArguments(_ place: (Int) -> Int) -> QueryExpression {
        func mapped(_ operands: [QueryExpression]) -> [QueryExpression] {
            operands.map { $0.mappingArguments(place) }
        }
        switch self {
        case .argument(let old): return .argument(place(old))
        case .constant, .object, .variable: return self
        case .list(let elements): return .list(mapped(elements))
        case .keyPath(let base, let steps): return .keyPath(base.mappingArguments(place), steps)
        case .collection(let function, let operand):
            return .collection(function, operand.mappingArguments(place))
        case .subquery(let collection, let variable, let predicate):
            let collection = collection.mappingArguments(place)
            return .subquery(
                collection, variable: variable, predicate: predicate.mappingArguments(place))
        case .function(let function, let operands): return .function(function, mapped(operands))
        case .comparison(var comparison):
            comparison.left = comparison.left.mappingArguments(place)
            comparison.right = comparison.right.mappingArguments(place)
            return .comparison(comparison)
        case .typeTest(let operand, let entityName):
            return .typeTest(operand.mappingArguments(place), entityName: entityName)
        case .and(let operands): return .and(mapped(operands))
        case .or(let operands): return .or(mapped(operands))
        case .not(let operand): return .not(operand.mappingArguments(place))
        }
    }
}
