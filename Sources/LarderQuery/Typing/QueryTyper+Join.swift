import LarderModel

extension QueryTyper {
    /// A call of `join`, whose first operand is computed for each element of the collection in it.
    func join(_ expressions: [QueryExpression]) throws(LarderError) -> TypedJoin {
        if outputs != nil { throw havingNeedsOutputs }
        guard ScalarFunction.join.operandCount.contains(expressions.count) else {
            throw LarderError(.malformedPredicate, "join takes 2 operands")
        }
        let separator = try text(expressions[1], name: "the separator")
        guard let expression = try quantifiedCollection(in: expressions[0]) else {
            throw LarderError(
                .wrongType,
                "join takes texts of a to-many key path or an array in JSON as its first operand",
                hint: "write `concat(a, b)` for texts of one object")
        }
        let collection = try elements(of: expression)
        let outer = element
        element = (expression, collection.element)
        defer { element = outer }
        let text = try within(collection) { () throws(LarderError) in
            try self.text(expressions[0], name: "an operand of join")
        }
        return TypedJoin(collection: collection, text: text, separator: separator)
    }

    private func text(
        _ expression: QueryExpression, name: String
    ) throws(LarderError) -> TypedOperand {
        let string = OperandType.attribute(.string)
        let text = try operand(expression, as: string, name: name).reading(as: .attribute(.string))
        guard text.type == string else {
            let noun = text.type.map { ", and \(text.name) is \($0.nounWithArticle)" } ?? ""
            throw LarderError(
                .wrongType, "join takes strings\(noun)",
                hint: text.type?.isNumber == true
                    ? "a number becomes text with `format(number, places)`" : nil)
        }
        return text
    }
}

extension TypedKeyPath {
    /// A hint how the texts of many objects become one value; nil for other values.
    var joinHint: String? {
        type.isString ? "write `join(\(expression.format), \", \")`" : nil
    }
}
