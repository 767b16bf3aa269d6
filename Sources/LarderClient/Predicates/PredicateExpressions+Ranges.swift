import FoundationEssentials
import LarderModel

/// The bounds of a range; nil is no bound.
struct RangeBounds<Bound> {
    var lower: Bound?
    var upper: Bound?
    var includesUpper: Bool
}

/// A captured range.
private protocol CapturedRange<Bound> {
    associatedtype Bound
    var bounds: RangeBounds<Bound> { get }
}

extension Swift.Range: CapturedRange {
    fileprivate var bounds: RangeBounds<Bound> {
        RangeBounds(lower: lowerBound, upper: upperBound, includesUpper: false)
    }
}
extension Swift.ClosedRange: CapturedRange {
    fileprivate var bounds: RangeBounds<Bound> {
        RangeBounds(lower: lowerBound, upper: upperBound, includesUpper: true)
    }
}
extension PartialRangeFrom: CapturedRange {
    fileprivate var bounds: RangeBounds<Bound> {
        RangeBounds(lower: lowerBound, upper: nil, includesUpper: false)
    }
}
extension PartialRangeUpTo: CapturedRange {
    fileprivate var bounds: RangeBounds<Bound> {
        RangeBounds(lower: nil, upper: upperBound, includesUpper: false)
    }
}
extension PartialRangeThrough: CapturedRange {
    fileprivate var bounds: RangeBounds<Bound> {
        RangeBounds(lower: nil, upper: upperBound, includesUpper: true)
    }
}

/// A range whose bounds are expressions of the predicate.
private protocol OperandRange {
    func bounds(in translation: inout Translation) throws(LarderError) -> RangeBounds<
        QueryExpression
    >
}

extension PredicateExpressions.Range: OperandRange, TranslatableExpression {
    fileprivate func bounds(
        in translation: inout Translation
    ) throws(LarderError) -> RangeBounds<QueryExpression> {
        RangeBounds(
            lower: try translation.operand(lower), upper: try translation.operand(upper),
            includesUpper: false)
    }

    func term(in translation: inout Translation) throws(LarderError) -> Term<Output> {
        throw unsupported("a range without contains")
    }
}

extension PredicateExpressions.ClosedRange: OperandRange, TranslatableExpression {
    fileprivate func bounds(
        in translation: inout Translation
    ) throws(LarderError) -> RangeBounds<QueryExpression> {
        RangeBounds(
            lower: try translation.operand(lower), upper: try translation.operand(upper),
            includesUpper: true)
    }

    func term(in translation: inout Translation) throws(LarderError) -> Term<Output> {
        throw unsupported("a range without contains")
    }
}

extension PredicateExpressions.RangeExpressionContains: TranslatableExpression {
    func term(in translation: inout Translation) throws(LarderError) -> Term<Bool> {
        if let operands = range as? any OperandRange {
            let element = try translation.operand(element)
            return .computed(.isWithin(try operands.bounds(in: &translation), element))
        }
        guard case .captured(let captured) = try translation.term(range) else {
            throw unsupported("a stored range")
        }
        switch try translation.term(element) {
        case .captured(let value): return .captured(captured.contains(value))
        case .computed(let expression):
            guard let test = try translation.test(expression, isWithin: captured) else {
                throw unsupported("contains on a captured \(type(of: captured))")
            }
            return .computed(test)
        }
    }
}

extension Translation {
    /// A test whether the value is in a captured range; nil if the captured value is not a range.
    mutating func test(
        _ expression: QueryExpression, isWithin range: some Any
    ) throws(LarderError) -> QueryExpression? {
        guard let range = range as? any CapturedRange else { return nil }
        return try test(expression, isWithinBoundsOf: range)
    }

    private mutating func test<Captured: CapturedRange>(
        _ expression: QueryExpression, isWithinBoundsOf range: Captured
    ) throws(LarderError) -> QueryExpression {
        let bounds = range.bounds
        var operands = RangeBounds<QueryExpression>(includesUpper: bounds.includesUpper)
        if let lower = bounds.lower { operands.lower = try operand(.captured(lower)) }
        if let upper = bounds.upper { operands.upper = try operand(.captured(upper)) }
        return .isWithin(operands, expression)
    }
}

extension QueryExpression {
    fileprivate static func isWithin(
        _ bounds: RangeBounds<QueryExpression>, _ element: QueryExpression
    ) -> QueryExpression {
        switch (bounds.lower, bounds.upper) {
        case (let lower?, let upper?) where bounds.includesUpper:
            return .compare(element, .between, .list([lower, upper]))
        case (let lower, let upper):
            var test = QueryExpression.yes
            if let lower { test = .compare(element, .greaterThanOrEqual, lower) }
            if let upper {
                let comparison: Comparison.Operator =
                    bounds.includesUpper ? .lessThanOrEqual : .lessThan
                test = .both(test, .compare(element, comparison, upper))
            }
            return test
        }
    }
}
