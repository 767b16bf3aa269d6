import CoreData
import LarderModel
import QueryFuzzing
import TestSupport

/// Makes predicates of their parts, by the initializers of the classes instead of a format.
struct PredicateTree {
    private let context: FuzzedContext
    var random: SeededGenerator

    init(_ context: FuzzedContext, _ random: SeededGenerator) {
        self.context = context
        self.random = random
    }

    mutating func predicate(_ tree: QueryExpression) -> NSPredicate {
        switch tree {
        case .constant(.bool(let value)): return NSPredicate(value: value)
        case .and(let parts):
            return NSCompoundPredicate(andPredicateWithSubpredicates: predicates(parts))
        case .or(let parts):
            return NSCompoundPredicate(orPredicateWithSubpredicates: predicates(parts))
        case .not(let part):
            return NSCompoundPredicate(notPredicateWithSubpredicate: predicate(part))
        case .comparison(let comparison):
            return NSComparisonPredicate(
                leftExpression: expression(comparison.left),
                rightExpression: expression(comparison.right),
                modifier: NSComparisonPredicate.Modifier(comparison.modifier),
                type: NSComparisonPredicate.Operator(comparison.operator),
                options: NSComparisonPredicate.Options(rawValue: UInt(comparison.options.rawValue)))
        default:
            // A value that is a predicate is an argument of a format.
            return NSPredicate(format: "%@ == TRUE", expression(tree))
        }
    }

    private mutating func predicates(_ parts: [QueryExpression]) -> [NSPredicate] {
        var all: [NSPredicate] = []
        for part in parts { all.append(predicate(part)) }
        return all
    }

    private mutating func expression(_ tree: QueryExpression) -> NSExpression {
        switch tree {
        case .constant(let value):
            return NSExpression(forConstantValue: context.any(value, &random))
        case .list(let elements):
            var all: [NSExpression] = []
            for element in elements { all.append(expression(element)) }
            return NSExpression(forAggregate: all)
        case .object: return NSExpression.expressionForEvaluatedObject()
        case .variable(let name): return NSExpression(forVariable: name)
        case .keyPath(.object, let steps):
            return NSExpression(forKeyPath: steps.joined(separator: "."))
        case .subquery(let collection, let variable, let predicate):
            return NSExpression(
                forSubquery: expression(collection), usingIteratorVariable: variable,
                predicate: self.predicate(predicate))
        case .function(.conditional, let operands) where operands.count == 3:
            return NSExpression(
                forConditional: predicate(operands[0]), trueExpression: expression(operands[1]),
                falseExpression: expression(operands[2]))
        case .function(let function, let operands) where function != .search:
            var all: [NSExpression] = []
            for operand in operands { all.append(expression(operand)) }
            return NSExpression(forFunction: function.name, arguments: all)
        default: return formatted(tree)
        }
    }

    /// An expression of which only formats have the form.
    private mutating func formatted(_ tree: QueryExpression) -> NSExpression {
        var arguments: [Any] = []
        let bound = tree.replacingConstants { value in
            arguments.append(context.any(value, &random))
            return .argument(arguments.count - 1)
        }
        return NSExpression(format: bound.format, argumentArray: arguments)
    }
}

extension QueryExpression {
    /// The tree with other expressions in place of its constants, in the order of its format.
    fileprivate func replacingConstants(
        _ replace: (Value) -> QueryExpression
    ) -> QueryExpression {
        switch self {
        case .constant(.bool), .constant(.null): self
        case .constant(let value): replace(value)
        default: mapChildren { $0.replacingConstants(replace) }
        }
    }
}

extension NSComparisonPredicate.Modifier {
    fileprivate init(_ modifier: Comparison.Modifier) {
        self =
            switch modifier {
            case .direct: .direct
            case .any: .any
            case .all: .all
            }
    }
}

extension NSComparisonPredicate.Operator {
    fileprivate init(_ operator: Comparison.Operator) {
        self =
            switch `operator` {
            case .equal: .equalTo
            case .notEqual: .notEqualTo
            case .lessThan: .lessThan
            case .lessThanOrEqual: .lessThanOrEqualTo
            case .greaterThan: .greaterThan
            case .greaterThanOrEqual: .greaterThanOrEqualTo
            case .in: .in
            case .between: .between
            case .beginsWith: .beginsWith
            case .endsWith: .endsWith
            case .contains: .contains
            case .like: .like
            case .matches: .matches
            }
    }
}
