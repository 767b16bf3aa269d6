package import LarderModel
internal import LarderQuery

// Predicates and expressions for objects with the changes of their context.

extension ObjectContext {
    /// Whether an object satisfies a predicate.
    ///
    /// - Throws: errors of the predicate, and of reads.
    package func satisfies(
        _ object: StoredObject, _ predicate: QueryExpression, _ arguments: [QueryArgument]
    ) throws(LarderError) -> Bool {
        try fetching { () throws(LarderError) in
            try typed(object, predicate, arguments) { (evaluator) throws(LarderError) in
                try evaluator.predicate(predicate)
            }.holds(for: object.identifier, reading: reader)
        }
    }

    /// The value of an expression for an object.
    ///
    /// - Throws: errors of the expression, and of reads.
    package func value(
        of expression: QueryExpression, _ arguments: [QueryArgument], for object: StoredObject
    ) throws(LarderError) -> Value {
        try fetching { () throws(LarderError) in
            try typed(object, expression, arguments) { (evaluator) throws(LarderError) in
                try evaluator.expression(expression)
            }.value(for: object.identifier, reading: reader)
        }
    }

    /// The expression as the entity of an object types it, or else an ancestor: in a predicate for
    /// both, a property of another subentity is nil for the object.
    private func typed<Typed>(
        _ object: StoredObject, _ expression: QueryExpression, _ arguments: [QueryArgument],
        _ type: (Evaluator) throws(LarderError) -> Typed
    ) throws(LarderError) -> Typed {
        var name = object.identifier.entityName
        var first: LarderError?
        while true {
            var fetch = ObjectFetch(name)
            fetch.predicate = expression
            fetch.arguments = arguments
            do throws(LarderError) {
                return try type(evaluator(for: fetch))
            } catch {
                let reason = first ?? error
                first = reason
                guard [.unknownProperty, .wrongType].contains(error.code),
                    let parent = try model.store(of: name).schema.entity(named: name)?.parent
                else { throw reason }
                name = parent
            }
        }
    }
}
