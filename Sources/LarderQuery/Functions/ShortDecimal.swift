import LarderModel

/// A decimal of few digits, as a usual one is: an integer of 64 bits and a power of ten. The SQL
/// functions compute with it in a few instructions per step.
///
/// Its operations are exact. Each returns nil if the result is not short; ``ExactDecimal`` has the
/// result then.
package struct ShortDecimal: Sendable {
    /// The number without its decimal point. Zeros at its end stay.
    let digits: Int64
    /// The power of ten of the last digit, from -36 to 0. So each number is a `Decimal`.
    let exponent: Int

    private static let exponentMin = -36

    private init(digits: Int64, exponent: Int) {
        self.digits = digits
        self.exponent = exponent
    }

    package init(_ integer: Int64) { self.init(digits: integer, exponent: 0) }

    // MARK: Parsing

    private static let textDigitsMax = 18

    /// Parses up to 18 digits without an exponent, in UTF-8; nil for any other text.
    @inline(__always)
    package init?(_ text: Span<UInt8>) {
        let end = text.count
        let isNegative = end > 0 && text[0] == UInt8(ascii: "-")
        let start = isNegative ? 1 : 0
        // With the decimal point.
        guard end - start <= Self.textDigitsMax + 1 else { return nil }
        var index = start
        var magnitude: Int64 = 0
        Self.readDigits(text, &index, &magnitude)
        guard index > start else { return nil }
        if index == end {
            guard end - start <= Self.textDigitsMax else { return nil }
            exponent = 0
        } else {
            guard text[index] == UInt8(ascii: "."), index < end - 1 else { return nil }
            index += 1
            exponent = index - end
            Self.readDigits(text, &index, &magnitude)
            guard index == end else { return nil }
        }
        digits = isNegative ? -magnitude : magnitude
    }

    @inline(__always)
    private static func readDigits(
        _ text: Span<UInt8>, _ index: inout Int, _ number: inout Int64
    ) {
        while index < text.count {
            let digit = text[index] &- UInt8(ascii: "0")
            guard digit < 10 else { return }
            number = number &* 10 &+ Int64(digit)
            index &+= 1
        }
    }

    // MARK: Arithmetic

    func multiplied(by other: ShortDecimal) -> ShortDecimal? {
        let (product, overflow) = digits.multipliedReportingOverflow(by: other.digits)
        let exponent = exponent + other.exponent
        guard !overflow, exponent >= Self.exponentMin else { return nil }
        return ShortDecimal(digits: product, exponent: exponent)
    }

    func adding(_ other: ShortDecimal) -> ShortDecimal? {
        guard let (left, right) = aligned(with: other) else { return nil }
        let (sum, overflow) = left.addingReportingOverflow(right)
        return overflow
            ? nil : ShortDecimal(digits: sum, exponent: min(exponent, other.exponent))
    }

    func subtracting(_ other: ShortDecimal) -> ShortDecimal? {
        other.negated.flatMap { adding($0) }
    }

    var negated: ShortDecimal? {
        digits == .min ? nil : ShortDecimal(digits: -digits, exponent: exponent)
    }

    var absolute: ShortDecimal? { digits < 0 ? negated : self }

    /// -1, 0 or 1 if the number is less than, equal to or greater than the other one.
    package func order(_ other: ShortDecimal) -> Int64? {
        guard let (left, right) = aligned(with: other) else { return nil }
        return left == right ? 0 : left < right ? -1 : 1
    }

    /// The digits of both numbers, as multiples of the same power of ten.
    @inline(__always)
    private func aligned(with other: ShortDecimal) -> (Int64, Int64)? {
        let difference = exponent - other.exponent
        guard -18...18 ~= difference else { return nil }
        let power = Int64(truncatingIfNeeded: ExactDecimal.smallPowers[abs(difference)])
        let (scaled, overflow) = (difference < 0 ? other : self).digits
            .multipliedReportingOverflow(by: power)
        if overflow { return nil }
        return difference < 0 ? (digits, scaled) : (scaled, other.digits)
    }
}
