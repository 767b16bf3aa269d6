import LarderModel

// Properties of a function that follow from its row.

extension ScalarFunction {
    /// The name in format strings.
    package var name: String { definition.name }

    /// The number of operands.
    package var operandCount: ClosedRange<Int> { definition.operandCount }

    /// The types of the operands of a function that prescribes them, in order. A function with more
    /// operands repeats the last one. Nil for a function whose operands have a common type, and for
    /// one that accepts several types.
    package var parameters: [AttributeType]? {
        guard case .prescribed(let parameters, _) = definition.typing, !parameters.isEmpty else {
            return nil
        }
        return parameters.map(\.type)
    }

    /// Whether the result is one of the operands, which then must have one common type. Arithmetic
    /// accepts mixed numbers.
    var returnsOperand: Bool {
        switch definition.typing {
        case .ordered, .common, .conditional: true
        case .prescribed, .numbersOrDates, .numbers, .places, .reals: false
        }
    }

    /// The operands that determine the result type; none if the function alone determines it.
    func resultTypeOperands(_ operands: [QueryExpression]) -> [QueryExpression] {
        switch definition.typing {
        case .numbersOrDates, .numbers, .ordered, .common: operands
        case .places(nil): Array(operands.prefix(1))
        case .conditional: Array(operands.dropFirst())
        case .prescribed, .places, .reals: []
        }
    }

    /// The meaning of an operand that is a search text, or the name of a unit or of a time zone;
    /// nil for others.
    ///
    /// - Parameter count: The number of operands.
    package func checkedOperand(at index: Int, of count: Int) -> CheckedOperand? {
        definition.parameter(at: index, of: count)?.checkedOperand
    }

    /// Whether an operand is a search text, which must be a value of the query.
    package func isSearchText(at index: Int, of count: Int) -> Bool {
        checkedOperand(at: index, of: count) == .searchText
    }

    /// Whether the result may be nil in a database, from whether the operands may be.
    package func isNullable(_ operands: [Bool]) -> Bool {
        switch definition.nullability {
        case .never: false
        case .ifAnyOperandIsNil: operands.contains(true)
        case .ifAllOperandsAreNil: operands.allSatisfy { $0 }
        case .always: true
        }
    }
}

/// An operand that names a part of a calendar, or is a search text. A constant or an argument is
/// checked before a query reads objects; another text in an object makes the function nil.
package enum CheckedOperand: Hashable, Sendable {
    case unit
    case zone
    case searchText

    /// - Throws: `malformedValue` for an unknown name and for text that is no search text;
    ///   `resourceExhausted` for one that is too long; `unsupported` if the machine has no time
    ///   zones.
    package func check(_ name: String) throws(LarderError) {
        switch self {
        case .unit: _ = try CalendarUnit.named(name)
        case .zone: try TimeZones.check(name)
        case .searchText: _ = try SearchText(name)
        }
    }
}
