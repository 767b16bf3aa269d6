public import FoundationEssentials

extension Decimal {
    /// Reads `-12.5e3`; nil for any other text, and for more digits than a Decimal holds, which is
    /// 38 of them.
    public init?(exactly text: String) {
        // The longest decimal has 39 digits and 127 zeros.
        guard text.utf8.count <= 256, let digits = DecimalDigits(text),
            let decimal = Decimal(string: text),
            DecimalDigits(decimal.description) == digits || digits.digits.isEmpty
        else { return nil }
        self = decimal
    }
}
