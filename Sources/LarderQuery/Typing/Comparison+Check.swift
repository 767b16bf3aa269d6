import LarderModel

extension Comparison {
    /// Whether the operator or the options require strings.
    package var needsStrings: Bool {
        switch `operator` {
        case .beginsWith, .endsWith, .contains, .like, .matches: true
        default: !options.isEmpty
        }
    }

    /// The error of a comparison of values that have no type of their own.
    package var needsKeyPath: LarderError {
        LarderError(.unsupported, "\(`operator`.rawValue) needs a key path on one side")
    }

    /// Checks that values of these types can be compared in this way.
    ///
    /// - Parameter sides: The sides of the comparison, left side first; a type is nil if it is
    ///   unknown.
    /// - Throws: `wrongType`, naming the first side that does not fit.
    package func check(
        _ sides: [(type: OperandType?, name: String)], in schema: Schema
    ) throws(LarderError) {
        let typed = sides.compactMap { side in side.type.map { (type: $0, name: side.name) } }
        guard let first = typed.first else { return }
        // All pairs are checked: an integer is comparable with a decimal and with a double, but
        // those two are not comparable with each other.
        for (index, side) in typed.enumerated() {
            for other in typed[(index + 1)...]
            where !side.type.isComparable(with: other.type, in: schema) {
                throw LarderError(
                    .wrongType,
                    "\(side.name) is \(side.type.nounWithArticle) and cannot be compared with "
                        + "\(other.name), \(other.type.nounWithArticle)")
            }
        }
        try `operator`.check(first.type, first.name)
        guard options.isEmpty || first.type.isString else {
            throw Comparison.Operator.rejection(options.text, "strings", first.type, first.name)
        }
    }
}

extension Comparison.Operator {
    /// Rejects a side of a type for which the operator has no meaning.
    ///
    /// - Throws: `wrongType`, naming the side.
    package func check(_ type: OperandType, _ name: String) throws(LarderError) {
        switch self {
        case .beginsWith, .endsWith, .contains, .like, .matches:
            guard type.isString else { throw Self.rejection(rawValue, "strings", type, name) }
        case .lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual, .between:
            guard type.isOrderable else {
                throw Self.rejection(
                    rawValue, "an ordered type", type, name, hint: "compare it with == or !=")
            }
        case .equal, .notEqual, .in: break
        }
    }

    fileprivate static func rejection(
        _ what: String, _ need: String, _ type: OperandType, _ name: String, hint: String? = nil
    ) -> LarderError {
        LarderError(
            .wrongType, "\(what) needs \(need), and \(name) is \(type.nounWithArticle)",
            hint: hint)
    }
}
