extension ExpressionTyper {
    /// Types an aggregate over a collection.
    mutating func aggregate(
        _ function: AggregateFunction, _ collection: QueryExpression
    ) throws(LarderError) -> TypedOperand {
        var elements: TypedElements
        do throws(LarderError) {
            elements = try self.elements(of: collection)
        } catch {
            throw error.hinting(atAggregateOf: collection)
        }
        if !elements.member.isEmpty {
            let read: AttributeType = function.needsNumbers ? .double : .json
            elements.collection = .member(
                elements.member, of: elements.collection, .attribute(read))
            elements.type = .attribute(read)
        }
        let type = try function.resultType(of: elements.type, named: elements.name)
        var elementType: AttributeType?
        if case .attribute(let attribute) = elements.type { elementType = attribute }
        return TypedOperand(
            expression: .aggregate(function, elements.collection, elementType), type: type,
            name: "\(elements.name).@\(function.collectionOperator)")
    }
}
