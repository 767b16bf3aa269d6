package import LarderModel

// Predicates and expressions for objects with the changes of their context.

extension ObjectContext {
    /// Whether an object satisfies a predicate.
    ///
    /// - Throws: errors of the predicate, and of reads.
    package func satisfies(
        _ object: StoredObject, _ predicate: QueryExpression, _ arguments: [QueryArgument]
    ) throws(LarderError) -> Bool {
        try fetching { () throws(LarderError) in
            try evaluator(object, predicate, arguments).predicate(predicate)
                .holds(for: object.identifier, reading: reader)
        }
    }

    /// The value of an expression for an object.
    ///
    /// - Throws: errors of the expression, and of reads.
    package func value(
        of expression: QueryExpression, _ arguments: [QueryArgument], for object: StoredObject
    ) throws(LarderError) -> Value {
        try fetching { () throws(LarderError) in
            try evaluator(object, expression, arguments).expression(expression)
                .value(for: object.identifier, reading: reader)
        }
    }

    private func evaluator(
        _ object: StoredObject, _ expression: QueryExpression, _ arguments: [QueryArgument]
    ) throws(LarderError) -> Evaluator {
        var fetch = ObjectFetch(object.identifier.entityName)
        fetch.predicate = expression
        fetch.arguments = arguments
        return try evaluator(for: fetch)
    }
}
