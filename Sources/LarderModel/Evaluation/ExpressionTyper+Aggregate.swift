extension ExpressionTyper {
    /// A value computed over a collection.
    mutating func aggregate(
        _ function: AggregateFunction, _ collection: QueryExpression
    ) throws(LarderError) -> TypedOperand {
        let elements = try elements(of: collection)
        let type = try resultType(of: function, elements)
        var elementType: AttributeType?
        if case .attribute(let attribute) = elements.type { elementType = attribute }
        return TypedOperand(
            expression: .aggregate(function, elements.collection, elementType), type: type,
            name: "\(elements.name).@\(function.collectionOperator)")
    }

    private func resultType(
        of function: AggregateFunction, _ elements: TypedElements
    ) throws(LarderError) -> OperandType {
        let type = elements.type
        let isDecimal = type == .attribute(.decimal)
        switch function {
        case .count, .countDistinct: return .attribute(.int64)
        case .mode: return type
        case .minimum, .maximum:
            guard type.isOrderable else { throw refusal(of: function, elements, "an order") }
            return type
        case .sum, .average, .median, .stddev:
            guard type.isNumber else { throw refusal(of: function, elements, "numbers") }
        }
        switch function {
        case .sum where type.isInteger: return .attribute(.int64)
        case .stddev: return .attribute(.double)
        default: return isDecimal ? .attribute(.decimal) : .attribute(.double)
        }
    }

    private func refusal(
        of function: AggregateFunction, _ elements: TypedElements, _ wanted: String
    ) -> LarderError {
        LarderError(
            .wrongType,
            "@\(function.collectionOperator) needs \(wanted), and "
                + "\(elements.name) is \(elements.type.nounWithArticle)")
    }
}
