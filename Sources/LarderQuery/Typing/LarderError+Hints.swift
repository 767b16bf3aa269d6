import LarderModel

// Hints that depend on the schema, for the planner and the evaluator.

extension LarderError {
    /// The error of an operand on the right side of a comparison. A single word that is not a
    /// property is usually text without quotation marks.
    package func hinting(atRightSide operand: QueryExpression) -> LarderError {
        guard code == .unknownProperty, case .keyPath(.object, let steps) = operand,
            steps.count == 1
        else { return self }
        return hinting(hint.map { "\(FormatHint.quotes); \($0)" } ?? FormatHint.quotes)
    }

    /// The error of the operand of an aggregate. A property of the object itself is the column of
    /// an aggregate query.
    package func hinting(atAggregateOf operand: QueryExpression) -> LarderError {
        guard code == .wrongType, hint == nil, case .keyPath(.object, _) = operand else {
            return self
        }
        return hinting(
            "here an aggregate takes a to-many relationship, as in `sum(articles.wordCount)`; "
                + "over the objects of a query, it is a column of an aggregate query")
    }

    /// The error of a value that is compared with an object. Text that is not the start of a URI is
    /// usually the value of an attribute of the object.
    ///
    /// - Parameter name: The object in error messages: `Album.artist`.
    package func hinting(
        at value: Value, asObjectOf type: OperandType?, named name: String, in schema: Schema
    ) -> LarderError {
        guard code == .malformedIdentifier, case .string(let text) = value,
            !text.hasPrefix("x-coredata:"), case .object(let entityName) = type,
            let entity = schema.entity(named: entityName)
        else { return self }
        let step = name.split(separator: ".", maxSplits: 1).dropFirst().first.map { "\($0)." } ?? ""
        let paths = entity.textAttributes.prefix(3).map { "`\(step)\($0) == …`" }
        guard !paths.isEmpty else { return self }
        return hinting("compare an attribute of the object: \(paths.joined(separator: " or "))")
    }
}

extension Entity {
    /// The names of the string attributes; those that identify an object first.
    fileprivate var textAttributes: [String] {
        let strings = attributes.filter { $0.type == .string }.map(\.name)
        let unique = strings.filter { uniquenessConstraints.contains([$0]) }
        return unique + strings.filter { !unique.contains($0) }
    }
}
