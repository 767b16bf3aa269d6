internal import Foundation
internal import LarderModel

/// A comparison of two expressions.
open class NSComparisonPredicate: NSPredicate {
    public enum Operator: UInt, Sendable {
        case lessThan = 0
        case lessThanOrEqualTo = 1
        case greaterThan = 2
        case greaterThanOrEqualTo = 3
        case equalTo = 4
        case notEqualTo = 5
        case matches = 6
        case like = 7
        case beginsWith = 8
        case endsWith = 9
        case `in` = 10
        case contains = 99
        case between = 100
    }

    public enum Modifier: UInt, Sendable {
        case direct = 0
        case all = 1
        case any = 2
    }

    /// How texts are compared: `[c]`, `[d]`, `[n]`.
    public struct Options: OptionSet, Sendable {
        public let rawValue: UInt
        public init(rawValue: UInt) { self.rawValue = rawValue }
        public static let caseInsensitive = Options(rawValue: 1)
        public static let diacriticInsensitive = Options(rawValue: 2)
        public static let normalized = Options(rawValue: 4)
    }

    open private(set) var leftExpression: NSExpression
    open private(set) var rightExpression: NSExpression
    open private(set) var comparisonPredicateModifier: Modifier
    open private(set) var predicateOperatorType: Operator
    open private(set) var options: Options

    public init(
        leftExpression lhs: NSExpression, rightExpression rhs: NSExpression, modifier: Modifier,
        type: Operator, options: Options = []
    ) {
        leftExpression = lhs
        rightExpression = rhs
        comparisonPredicateModifier = modifier
        predicateOperatorType = type
        self.options = options
        super.init(
            .comparison(
                ComparisonForm(
                    left: lhs, right: rhs, modifier: modifier, operator: type, options: options)))
    }
}

/// The parts of a comparison.
package struct ComparisonForm {
    let left: NSExpression
    let right: NSExpression
    let modifier: NSComparisonPredicate.Modifier
    let `operator`: NSComparisonPredicate.Operator
    let options: NSComparisonPredicate.Options

    func tree(_ builder: inout TermBuilder) throws(LarderError) -> QueryExpression {
        let left = try builder.tree(of: left)
        return .comparison(
            Comparison(
                left, storeOperator, try builder.tree(of: right),
                options: Comparison.Options(rawValue: UInt32(truncatingIfNeeded: options.rawValue)),
                modifier: storeModifier))
    }

    private var storeModifier: Comparison.Modifier {
        switch modifier {
        case .direct: .direct
        case .all: .all
        case .any: .any
        }
    }

    private var storeOperator: Comparison.Operator {
        switch `operator` {
        case .lessThan: .lessThan
        case .lessThanOrEqualTo: .lessThanOrEqual
        case .greaterThan: .greaterThan
        case .greaterThanOrEqualTo: .greaterThanOrEqual
        case .equalTo: .equal
        case .notEqualTo: .notEqual
        case .matches: .matches
        case .like: .like
        case .beginsWith: .beginsWith
        case .endsWith: .endsWith
        case .in: .in
        case .contains: .contains
        case .between: .between
        }
    }
}
