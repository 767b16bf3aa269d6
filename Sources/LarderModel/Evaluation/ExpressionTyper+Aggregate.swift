extension ExpressionTyper {
    /// A value computed over a collection.
    mutating func aggregate(
        _ function: AggregateFunction, _ collection: QueryExpression
    ) throws(LarderError) -> TypedOperand {
        let elements = try elements(of: collection)
        let type = try function.resultType(of: elements.type, named: elements.name)
        var elementType: AttributeType?
        if case .attribute(let attribute) = elements.type { elementType = attribute }
        return TypedOperand(
            expression: .aggregate(function, elements.collection, elementType), type: type,
            name: "\(elements.name).@\(function.collectionOperator)")
    }
}
