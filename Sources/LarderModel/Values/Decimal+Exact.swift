package import FoundationEssentials

extension Decimal {
    /// The greatest number of digits that a decimal has.
    package static let digitsMax = 38

    /// Parses `-12.5e3`; nil for any other text, for more than 38 digits, and for an exponent that
    /// a Decimal cannot hold.
    package init?(exactly text: String) {
        // The longest decimal has 38 digits and 128 zeros; the rest allows for leading zeros.
        guard text.utf8.count <= 256, let digits = DecimalDigits(text),
            digits.digits.count <= Self.digitsMax
        else { return nil }
        if Self.usualExponents.contains(digits.exponent) {
            self.init(digits)
            return
        }
        guard let decimal = Decimal(string: text), DecimalDigits(decimal.description) == digits
        else { return nil }
        self = decimal
    }

    /// Exponents with which a Decimal holds any 38 digits. To parse text that has others takes ten
    /// times as long, because the result has to be compared with the text.
    package static let usualExponents = -127...89

    /// The number with these digits, of which there are at most 38.
    private init(_ number: DecimalDigits) {
        let high = number.digits.dropLast(Self.halfDigits)
        var significand = Decimal(Self.integer(number.digits.suffix(Self.halfDigits)))
        if !high.isEmpty { significand += Decimal(Self.integer(high)) * Self.halfEnd }
        self.init(
            sign: number.isNegative && !number.digits.isEmpty ? .minus : .plus,
            exponent: number.exponent, significand: significand)
    }

    /// The digits that an unsigned integer holds.
    private static let halfDigits = 19
    private static let halfEnd = Decimal(10_000_000_000_000_000_000 as UInt64)

    private static func integer(_ digits: ArraySlice<UInt8>) -> UInt64 {
        digits.reduce(0) { $0 * 10 + UInt64($1 - UInt8(ascii: "0")) }
    }
}
