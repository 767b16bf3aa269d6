public import FoundationEssentials

extension Decimal {
    /// Parses `-12.5e3`; nil for any other text, for more than 38 digits, and for an exponent that
    /// a Decimal cannot hold.
    public init?(exactly text: String) {
        // The longest decimal has 38 digits and 128 zeros; the rest allows for leading zeros.
        guard text.utf8.count <= 256, let digits = DecimalDigits(text),
            digits.digits.count <= ExactDecimal.digitsMax,
            let decimal = Decimal(string: text),
            DecimalDigits(decimal.description) == digits || digits.digits.isEmpty
        else { return nil }
        self = decimal
    }
}
