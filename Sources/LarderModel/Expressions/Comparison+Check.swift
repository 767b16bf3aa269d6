extension Comparison {
    /// Whether the operator, or what it ignores, is one of strings.
    public var needsStrings: Bool {
        switch `operator` {
        case .beginsWith, .endsWith, .contains, .like, .matches: true
        default: !options.isEmpty
        }
    }

    /// Checks that values of these types may be compared so.
    ///
    /// - Parameter sides: The left side first; a type is nil where nothing tells it.
    /// - Throws: `wrongType`, with the name of the first side that does not fit.
    public func check(
        _ sides: [(type: OperandType?, name: String)], in schema: Schema
    ) throws(LarderError) {
        let typed = sides.compactMap { side in side.type.map { (type: $0, name: side.name) } }
        guard let first = typed.first else { return }
        // Of an integer between a decimal and a double there is no order that all three share.
        for (place, side) in typed.enumerated() {
            for other in typed[(place + 1)...]
            where !side.type.isComparable(with: other.type, in: schema) {
                throw LarderError(
                    .wrongType,
                    "\(side.name) is \(side.type.nounWithArticle) and cannot be compared with "
                        + "\(other.name), \(other.type.nounWithArticle)")
            }
        }
        func refusal(_ what: String, _ need: String, hint: String? = nil) -> LarderError {
            LarderError(
                .wrongType,
                "\(what) needs \(need), and \(first.name) is \(first.type.nounWithArticle)",
                hint: hint)
        }
        switch `operator` {
        case .beginsWith, .endsWith, .contains, .like, .matches:
            guard first.type.isString else { throw refusal(`operator`.rawValue, "strings") }
        case .lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual, .between:
            guard first.type.isOrderable else {
                throw refusal(
                    `operator`.rawValue, "an order", hint: "compare it with == or !=")
            }
        case .equal, .notEqual, .in: break
        }
        guard options.isEmpty || first.type.isString else {
            throw refusal(options.text, "strings")
        }
    }
}
