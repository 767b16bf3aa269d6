public import FoundationEssentials

extension Decimal {
    /// Reads `-12.5e3`; nil for any other text, and for more than 38 digits, or
    /// an exponent that a Decimal does not hold.
    public init?(exactly text: String) {
        // The longest decimal has 38 digits and 128 zeros; leading ones may come on top.
        guard text.utf8.count <= 256, let digits = DecimalDigits(text),
            digits.digits.count <= ExactDecimal.digitsMax,
            let decimal = Decimal(string: text),
            DecimalDigits(decimal.description) == digits || digits.digits.isEmpty
        else { return nil }
        self = decimal
    }
}
