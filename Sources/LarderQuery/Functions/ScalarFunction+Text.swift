import LarderModel

// Functions that return parts of strings and that put strings together. An index or a length that
// the string does not have is no error: docs/queries.md defines the result.

extension ScalarFunction {
    func substring(
        _ text: String, _ operands: [Value], _ interruption: Interruption
    ) -> Value {
        guard let start = operands[1].wholeNumber else { return .null }
        guard operands.count > 2 else {
            return .string(text.substring(from: start, count: nil, interruption))
        }
        guard let count = operands[2].wholeNumber else { return .null }
        return .string(text.substring(from: start, count: count, interruption))
    }

    func trimmed(_ text: String, _ operands: [Value], _ interruption: Interruption) -> Value {
        var characters: String?
        if operands.count > 1 {
            guard case .string(let given) = operands[1] else { return .null }
            characters = given
        }
        return .string(
            text.trimmed(
                of: characters, atStart: self != .trimEnd, atEnd: self != .trimStart,
                interruption))
    }

    func replaced(
        _ text: String, _ operands: [Value], _ interruption: Interruption
    ) throws(LarderError) -> Value {
        guard case (.string(let part), .string(let other)) = (operands[1], operands[2]) else {
            return .null
        }
        return try checked(
            text.replacing(part, with: other, bytesMax: Limits.functionTextBytesMax, interruption))
    }

    func part(_ text: String, _ operands: [Value], _ interruption: Interruption) -> Value {
        guard case .string(let separator) = operands[1], let index = operands[2].wholeNumber else {
            return .null
        }
        return text.part(at: index, separatedBy: separator, interruption).map { .string($0) }
            ?? .null
    }

    func concatenation(
        _ first: String, _ operands: [Value], _ interruption: Interruption
    ) throws(LarderError) -> Value {
        var text = ""
        for operand in operands {
            guard case .string(let next) = operand else { return .null }
            guard text.utf8.count + next.utf8.count <= Limits.functionTextBytesMax else {
                throw tooLong
            }
            text += next
        }
        // Characters may combine where two strings meet.
        return .string(text.normalized(interruption))
    }

    func padded(
        _ text: String, _ operands: [Value], _ interruption: Interruption
    ) throws(LarderError) -> Value {
        guard let length = operands[1].wholeNumber else { return .null }
        var pattern = " "
        if operands.count > 2 {
            guard case .string(let given) = operands[2] else { return .null }
            pattern = given
        }
        guard
            let padding = text.padding(
                to: length, with: pattern,
                bytesMax: Limits.functionTextBytesMax - text.utf8.count, interruption)
        else { throw tooLong }
        if padding.isEmpty { return .string(text) }
        let padded = self == .padStart ? padding + text : text + padding
        return .string(padded.normalized(interruption))
    }

    /// Returns a number as text with a fixed number of decimal places; nil for operands that are no
    /// numbers and for infinity.
    ///
    /// - Throws: `resourceExhausted` for a result that is too long.
    func formatted(_ operands: [Value]) throws(LarderError) -> Value {
        guard let places = operands[1].wholeNumber, let number = operands[0].decimalNumber,
            let rounded = number.rounded(toPlaces: places)
        else { return .null }
        let bytesMax = Int64(Limits.functionTextBytesMax - ExactDecimal.textBytesMax)
        guard places <= bytesMax else { throw tooLong }
        return .string(rounded.text(places: Int(max(0, places))))
    }

    /// Returns a number rounded to a number of decimal places; nil for operands that are no
    /// numbers, and for a result outside the type of the number.
    func rounded(_ operands: [Value]) -> Value {
        guard let places = operands[1].wholeNumber else { return .null }
        switch operands[0] {
        case .double(let double) where double.isInfinite: return operands[0]
        case .float(let float) where float.isInfinite: return .double(Double(float))
        default: break
        }
        guard let rounded = operands[0].decimalNumber?.rounded(toPlaces: places) else {
            return .null
        }
        switch operands[0] {
        case .int: return rounded.integer.map { .int($0) } ?? .null
        case .float, .double: return .double(rounded.double)
        default: return rounded.decimal.map { .decimal($0) } ?? .null
        }
    }

    private func checked(_ text: String?) throws(LarderError) -> Value {
        guard let text else { throw tooLong }
        return .string(text)
    }

    var tooLong: LarderError {
        LarderError(
            .resourceExhausted,
            "\(name) would return a text of more than "
                + "\(Limits.functionTextBytesMax >> 20) MiB",
            hint: "shorten the text with `substring`, or narrow the predicate")
    }
}

extension Value {
    /// The number as an integer if it is one; nil for other values.
    fileprivate var wholeNumber: Int64? {
        switch self {
        case .int(let integer): integer
        case .float(let float): Int64(exactly: float)
        case .double(let double): Int64(exactly: double)
        case .decimal(let decimal): ExactDecimal(decimal)?.integer
        default: nil
        }
    }

    /// The number as a decimal; a float or double as its shortest text, as 9.99 is. Nil for other
    /// values and for infinity.
    fileprivate var decimalNumber: ExactDecimal? {
        switch self {
        case .int(let integer): ExactDecimal(integer)
        case .float(let float): ExactDecimal(text: Double(float).description)
        case .double(let double): ExactDecimal(text: double.description)
        case .decimal(let decimal): ExactDecimal(decimal)
        default: nil
        }
    }
}
