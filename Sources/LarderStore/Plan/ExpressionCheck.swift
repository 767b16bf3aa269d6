import LarderModel

/// Whether an expression tree is within its limits; the resolver's recursion relies on it.
enum ExpressionCheck {
    static func check(_ expression: QueryExpression) throws(LarderError) {
        var nodeCount = 0
        try check(expression, depth: 1, nodeCount: &nodeCount)
    }

    private static func check(
        _ expression: QueryExpression, depth: Int, nodeCount: inout Int
    ) throws(LarderError) {
        guard depth <= Limits.expressionDepthMax else {
            throw LarderError(
                .resourceExhausted,
                "the predicate is nested deeper than \(Limits.expressionDepthMax) levels")
        }
        nodeCount += 1
        guard nodeCount <= Limits.expressionNodesMax else {
            throw LarderError(
                .resourceExhausted,
                "the predicate has more than \(Limits.expressionNodesMax) parts")
        }
        for child in children(of: expression) {
            try check(child, depth: depth + 1, nodeCount: &nodeCount)
        }
    }

    private static func children(of expression: QueryExpression) -> [QueryExpression] {
        switch expression {
        case .constant, .argument, .object, .variable: []
        case .list(let parts), .and(let parts), .or(let parts): parts
        case .keyPath(let base, _): [base]
        case .collection(_, let part), .not(let part): [part]
        case .subquery(let collection, _, let predicate): [collection, predicate]
        case .comparison(let comparison): [comparison.left, comparison.right]
        }
    }
}
