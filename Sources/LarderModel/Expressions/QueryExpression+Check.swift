extension QueryExpression {
    /// Checks that the tree is within ``Limits``, so that other code can walk it recursively.
    ///
    /// - Returns: the number of its nodes.
    /// - Throws: `resourceExhausted`.
    @discardableResult
    package func checkLimits() throws(LarderError) -> Int {
        // An explicit stack: the tree may come from outside and may be arbitrarily deep.
        var pending: [(expression: QueryExpression, level: Int, collections: Int)] = [(self, 1, 0)]
        var nodeCount = 0
        while let (expression, level, collections) = pending.popLast() {
            nodeCount += 1
            guard level <= Limits.expressionDepthMax else {
                throw LarderError(
                    .resourceExhausted,
                    "the predicate is nested more than \(Limits.expressionDepthMax) levels deep")
            }
            guard collections <= Limits.nestedCollectionsMax else {
                throw LarderError(
                    .resourceExhausted,
                    "more than \(Limits.nestedCollectionsMax) SUBQUERY, ANY or ALL are nested",
                    hint: "run several queries, each for the objects that the last one found")
            }
            let children = expression.children
            guard nodeCount + pending.count + children.count <= Limits.expressionNodesMax else {
                throw Self.tooLarge
            }
            if case .keyPath(_, let steps) = expression, steps.count > Limits.keyPathStepsMax {
                throw LarderError(
                    .resourceExhausted,
                    "a key path has more than \(Limits.keyPathStepsMax) steps")
            }
            for (index, child) in children.enumerated() {
                let isWithin = expression.opensCollection(around: index)
                pending.append((child, level + 1, collections + (isWithin ? 1 : 0)))
            }
        }
        return nodeCount
    }

    /// Whether the child at the index is evaluated for each element of a collection.
    private func opensCollection(around index: Int) -> Bool {
        switch self {
        case .subquery: index == 1
        case .collection(_, let collection): !collection.isSubquery
        case .function(.join, _): index == 0
        case .comparison(let comparison) where comparison.modifier != .direct:
            // The collection itself, unless the left side computes a value from its elements.
            switch comparison.left {
            case .keyPath, .subquery: index == 1
            default: true
            }
        default: false
        }
    }

    package static let tooLarge = LarderError(
        .resourceExhausted, "the predicate has more than \(Limits.expressionNodesMax) parts",
        hint: "pass many values as one list argument: name IN %@")

    /// The direct operands of this expression, in the order in which they are written.
    package var children: [QueryExpression] {
        switch self {
        case .constant, .argument, .object, .variable: []
        case .list(let elements), .and(let elements), .or(let elements),
            .function(_, let elements):
            elements
        case .keyPath(let base, _): [base]
        case .collection(_, let operand), .not(let operand), .typeTest(let operand, _): [operand]
        case .subquery(let collection, _, let predicate): [collection, predicate]
        case .comparison(let comparison): [comparison.left, comparison.right]
        }
    }

    /// The expression with other direct operands.
    package func mapChildren<Failure: Error>(
        _ change: (QueryExpression) throws(Failure) -> QueryExpression
    ) throws(Failure) -> QueryExpression {
        switch self {
        case .constant, .argument, .object, .variable: return self
        case .list(let elements): return .list(try elements.map(change))
        case .keyPath(let base, let steps): return .keyPath(try change(base), steps)
        case .collection(let function, let operand):
            return .collection(function, try change(operand))
        case .subquery(let collection, let variable, let predicate):
            let collection = try change(collection)
            return .subquery(collection, variable: variable, predicate: try change(predicate))
        case .function(let function, let operands):
            return .function(function, try operands.map(change))
        case .comparison(var comparison):
            comparison.left = try change(comparison.left)
            comparison.right = try change(comparison.right)
            return .comparison(comparison)
        case .typeTest(let operand, let entityName):
            return .typeTest(try change(operand), entityName: entityName)
        case .and(let parts): return .and(try parts.map(change))
        case .or(let parts): return .or(try parts.map(change))
        case .not(let part): return .not(try change(part))
        }
    }
}
