import FoundationEssentials
import LarderModel

/// A decimal number as an integer and a power of ten. Operations return an exact result or nil.
///
/// `Decimal` rounds results with too many digits without reporting it. Here a result has at most 38
/// digits and an exponent that a `Decimal` can hold, or it is nil.
///
/// The SQL functions compute with this type for every row, so no operation allocates memory.
/// Divisions of 128 bits are slow; integers of 64 bits, which usual numbers are, need none.
package struct ExactDecimal: Hashable, Sendable {
    static let digitsMax = Decimal.digitsMax
    private static let exponentMin = -128
    /// 10^38, the first integer of more than 38 digits.
    private static let magnitudeEnd = power(38)

    private(set) var isNegative: Bool
    /// Without trailing zeros; 0 for zero.
    private(set) var magnitude: UInt128
    /// The power of ten of the last digit; 0 for zero.
    private(set) var exponent: Int

    static let zero = ExactDecimal(isNegative: false, magnitude: 0, exponent: 0)

    /// The magnitude may have any number of digits; only sums need more than 38.
    init(isNegative: Bool, magnitude: UInt128, exponent: Int) {
        self.isNegative = magnitude != 0 && isNegative
        self.magnitude = magnitude
        self.exponent = magnitude == 0 ? 0 : exponent
        guard magnitude != 0 else { return }
        while self.magnitude.small == nil {
            let (quotient, digit) = self.magnitude.quotientAndRemainder(dividingBy: 10)
            guard digit == 0 else { return }
            self.magnitude = quotient
            self.exponent += 1
        }
        guard var rest = self.magnitude.small, rest % 10 == 0 else { return }
        repeat {
            rest /= 10
            self.exponent += 1
        } while rest % 10 == 0
        self.magnitude = UInt128(rest)
    }

    package init(_ integer: Int64) {
        self.init(isNegative: integer < 0, magnitude: UInt128(integer.magnitude), exponent: 0)
    }

    /// Parses stored text, in UTF-8; nil for a text that is no decimal, as a damaged file may have.
    package init?(storedText text: Span<UInt8>) {
        guard let short = ShortDecimal(text) else {
            guard let decimal = Decimal(exactly: text.string) else { return nil }
            self.init(decimal)
            return
        }
        // A fraction of a stored text has no zeros at its end.
        guard short.digits % 10 != 0 else {
            self.init(short)
            return
        }
        self.init(normalized: short)
    }

    package init(_ short: ShortDecimal) {
        self.init(
            isNegative: short.digits < 0, magnitude: UInt128(short.digits.magnitude),
            exponent: short.exponent)
    }

    @inline(__always)
    private init(normalized short: ShortDecimal) {
        isNegative = short.digits < 0
        magnitude = UInt128(short.digits.magnitude)
        exponent = short.exponent
    }

    /// Nil for NaN and for numbers of more than 38 digits.
    init?(_ decimal: Decimal) {
        guard !decimal.isNaN else { return nil }
        self.init(text: decimal.description)
    }

    /// Parses `-12.5e3`; nil for any other text and for more than 38 digits.
    init?(text: String) {
        guard let number = DecimalDigits(text), number.digits.count <= Self.digitsMax else {
            return nil
        }
        let magnitude = number.digits.reduce(UInt128(0)) {
            $0 * 10 + UInt128($1 - UInt8(ascii: "0"))
        }
        self.init(isNegative: number.isNegative, magnitude: magnitude, exponent: number.exponent)
    }

    /// Nil if a `Decimal` cannot hold it.
    var decimal: Decimal? {
        guard magnitude < Self.magnitudeEnd, abs(exponent) < 256 else { return nil }
        return Decimal(exactly: "\(isNegative ? "-" : "")\(magnitude)e\(exponent)")
    }

    /// Nil unless it is an integer of 64 bits.
    var integer: Int64? {
        guard 0...19 ~= exponent, let whole = Self.scaled(magnitude, by: exponent) else {
            return nil
        }
        guard whole <= UInt128(Int64.min.magnitude) else { return nil }
        return Int64(exactly: isNegative ? -Int128(whole) : Int128(whole))
    }

    /// More than the bytes of any number without decimal places.
    static let textBytesMax = 512

    /// The digits without an exponent, with at least this number of decimal places: 12.50.
    func text(places: Int) -> String {
        var digits = String(magnitude)
        // The decimal point precedes this number of digits.
        let fraction = max(places, -exponent)
        if magnitude != 0 { digits += String(repeating: "0", count: exponent + fraction) }
        digits = String(repeating: "0", count: max(0, fraction + 1 - digits.utf8.count)) + digits
        let whole = digits.dropLast(fraction)
        let point = fraction > 0 ? "." : ""
        return "\(isNegative ? "-" : "")\(whole)\(point)\(digits.suffix(fraction))"
    }

    /// The nearest double.
    var double: Double {
        // Both are exact doubles, so the result is rounded once.
        if let small = magnitude.small, small < 1 << 53, -18...18 ~= exponent {
            let whole = Double(isNegative ? -Int64(small) : Int64(small))
            let power = Double(Self.smallPowers[abs(exponent)])
            return exponent < 0 ? whole / power : whole * power
        }
        return Double("\(isNegative ? "-" : "")\(magnitude)e\(exponent)") ?? .nan
    }

    /// Whether a `Decimal` can hold it.
    package var isDecimal: Bool {
        magnitude < Self.magnitudeEnd
            && (Decimal.usualExponents.contains(exponent) || decimal != nil)
    }

    // MARK: Powers of ten

    /// The powers of ten that fit in 64 bits with a sign. A list of literals needs no code that
    /// initializes it before its first use.
    static let smallPowers: [UInt64] = [
        1, 10, 100, 1000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000,
        10_000_000_000, 100_000_000_000, 1_000_000_000_000, 10_000_000_000_000,
        100_000_000_000_000, 1_000_000_000_000_000, 10_000_000_000_000_000,
        100_000_000_000_000_000, 1_000_000_000_000_000_000,
    ]

    private static let powers: [UInt128] = (0...38).map {
        (0..<$0).reduce(1) { power, _ in power * 10 }
    }

    private static func power(_ exponent: Int) -> UInt128 { powers[exponent] }

    /// The magnitude times a power of ten; nil if it exceeds 128 bits.
    static func scaled(_ magnitude: UInt128, by exponent: Int) -> UInt128? {
        if exponent == 0 { return magnitude }
        guard exponent <= digitsMax else { return nil }
        if exponent <= 18, let small = magnitude.small {
            return UInt128(small, times: smallPowers[exponent])
        }
        let (scaled, overflow) = magnitude.multipliedReportingOverflow(by: power(exponent))
        return overflow ? nil : scaled
    }
}

extension UInt128 {
    /// The number if it fits in 64 bits.
    @inline(__always)
    var small: UInt64? {
        UInt64(truncatingIfNeeded: self >> 64) == 0 ? UInt64(truncatingIfNeeded: self) : nil
    }

    /// The exact product.
    @inline(__always)
    init(_ left: UInt64, times right: UInt64) {
        let (high, low) = left.multipliedFullWidth(by: right)
        self = UInt128(high) << 64 | UInt128(low)
    }

    @inline(__always)
    func divided(by divisor: UInt128) -> (quotient: UInt128, remainder: UInt128) {
        guard let small, let smallDivisor = divisor.small else {
            return quotientAndRemainder(dividingBy: divisor)
        }
        let (quotient, remainder) = small.quotientAndRemainder(dividingBy: smallDivisor)
        return (UInt128(quotient), UInt128(remainder))
    }
}

// MARK: Stored text

extension ExactDecimal {
    /// Passes the canonical text in which decimals are stored, in UTF-8: an optional `-`, digits
    /// without leading zeros and, if there is a fraction, a point and digits without trailing
    /// zeros. Nil for a number that a `Decimal` cannot hold.
    package func withStoredText<Result>(_ body: (Span<UInt8>) -> Result) -> Result? {
        guard isDecimal else { return nil }
        let text = StoredText(self)
        return body(text.bytes.span.extracting(text.start...))
    }

    /// The text, written from its end.
    private struct StoredText {
        /// The longest text has a sign, 38 digits and 127 zeros.
        private static let bytesMax = 168

        private(set) var bytes = InlineArray<168, UInt8>(repeating: UInt8(ascii: "0"))
        private(set) var start: Int
        private let hasPoint: Bool
        /// The digits that must be written: those of the fraction and one before the point.
        private var digitsLeft: Int

        init(_ number: ExactDecimal) {
            // The zeros of a positive exponent are there already.
            start = Self.bytesMax - max(0, number.exponent)
            hasPoint = number.exponent < 0
            digitsLeft = max(0, -number.exponent) + 1
            if let small = number.magnitude.small {
                append(small, minimumDigits: digitsLeft)
            } else {
                let (high, low) = number.magnitude.divided(by: ExactDecimal.power(19))
                append(UInt64(truncatingIfNeeded: low), minimumDigits: 19)
                append(UInt64(truncatingIfNeeded: high), minimumDigits: digitsLeft)
            }
            if number.isNegative { append(UInt8(ascii: "-")) }
        }

        private mutating func append(_ number: UInt64, minimumDigits: Int) {
            var rest = number
            var missing = minimumDigits
            while rest != 0 || missing > 0 {
                if hasPoint, digitsLeft == 1 { append(UInt8(ascii: ".")) }
                let (quotient, digit) = rest.quotientAndRemainder(dividingBy: 10)
                append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: digit))
                rest = quotient
                missing -= 1
                digitsLeft -= 1
            }
        }

        private mutating func append(_ byte: UInt8) {
            start -= 1
            bytes[start] = byte
        }
    }
}

// MARK: Order

extension ExactDecimal: Comparable {
    package static func < (left: ExactDecimal, right: ExactDecimal) -> Bool {
        if left.isNegative != right.isNegative { return left.isNegative }
        return left.isNegative
            ? right.hasSmallerMagnitude(than: left) : left.hasSmallerMagnitude(than: right)
    }

    private func hasSmallerMagnitude(than other: ExactDecimal) -> Bool {
        if exponent == other.exponent { return magnitude < other.magnitude }
        if magnitude == 0 || other.magnitude == 0 { return magnitude < other.magnitude }
        // A number that cannot be scaled to the exponent of the other one has more digits.
        if exponent > other.exponent {
            let scaled = Self.scaled(magnitude, by: exponent - other.exponent)
            return scaled.map { $0 < other.magnitude } ?? false
        }
        let scaled = Self.scaled(other.magnitude, by: other.exponent - exponent)
        return scaled.map { magnitude < $0 } ?? true
    }
}

// MARK: Arithmetic

extension ExactDecimal {
    static prefix func - (number: ExactDecimal) -> ExactDecimal {
        var negated = number
        negated.isNegative = number.magnitude != 0 && !number.isNegative
        return negated
    }

    var absolute: ExactDecimal { isNegative ? -self : self }

    func adding(_ other: ExactDecimal) -> ExactDecimal? {
        if magnitude == 0 { return other }
        if other.magnitude == 0 { return self }
        // The number with the larger exponent is scaled to the smaller one. If that overflows 128
        // bits, the sum has more than 38 digits, because its last digit comes from the other
        // number.
        let (high, low) = exponent >= other.exponent ? (self, other) : (other, self)
        guard let scaled = Self.scaled(high.magnitude, by: high.exponent - low.exponent) else {
            return nil
        }
        if high.isNegative == low.isNegative {
            let (sum, overflow) = scaled.addingReportingOverflow(low.magnitude)
            return overflow ? nil : Self.checked(high.isNegative, sum, low.exponent)
        }
        return scaled >= low.magnitude
            ? Self.checked(high.isNegative, scaled - low.magnitude, low.exponent)
            : Self.checked(low.isNegative, low.magnitude - scaled, low.exponent)
    }

    func multiplied(by other: ExactDecimal) -> ExactDecimal? {
        let isNegative = isNegative != other.isNegative
        var exponent = exponent + other.exponent
        if let left = magnitude.small, let right = other.magnitude.small {
            return Self.checked(isNegative, UInt128(left, times: right), exponent)
        }
        var (high, low) = magnitude.multipliedFullWidth(by: other.magnitude)
        // The product is exact only if the digits that do not fit are zeros.
        while high != 0 {
            let (quotient, rest) = high.quotientAndRemainder(dividingBy: 10)
            let (lowQuotient, digit) = UInt128(10).dividingFullWidth((rest, low))
            guard digit == 0 else { return nil }
            (high, low) = (quotient, lowQuotient)
            exponent += 1
        }
        return Self.checked(isNegative, low, exponent)
    }

    /// The quotient to 38 digits, rounded to nearest with halves away from zero. Nil for a division
    /// by zero.
    func divided(by other: ExactDecimal) -> ExactDecimal? {
        guard other.magnitude != 0 else { return nil }
        var (quotient, rest) = magnitude.divided(by: other.magnitude)
        var exponent = exponent - other.exponent
        while rest != 0, quotient < Self.power(Self.digitsMax - 1), exponent > Self.exponentMin {
            // Many digits at once if the rest and they fit in 128 bits.
            let count =
                other.magnitude.small == nil
                ? 1 : min(18, Self.digitsMax - Self.digits(quotient), exponent - Self.exponentMin)
            let (digits, next) = other.magnitude.dividingFullWidth(
                rest.multipliedFullWidth(by: Self.power(count)))
            quotient = quotient * Self.power(count) + digits
            rest = next
            exponent -= count
        }
        if rest != 0, rest >= other.magnitude - rest { quotient += 1 }
        return Self.checked(isNegative != other.isNegative, quotient, exponent)
    }

    /// The number of digits; 0 for zero.
    private static func digits(_ magnitude: UInt128) -> Int {
        var count = 0
        while count < digitsMax, magnitude >= power(count) { count += 1 }
        return count
    }

    /// The remainder of the division with the quotient truncated to an integer, with the sign of
    /// the dividend; nil for a division by zero.
    func remainder(dividingBy other: ExactDecimal) -> ExactDecimal? {
        guard other.magnitude != 0 else { return nil }
        if exponent < other.exponent {
            let scaled = Self.scaled(other.magnitude, by: other.exponent - exponent)
            guard let scaled else { return self }
            return Self.checked(isNegative, magnitude.divided(by: scaled).remainder, exponent)
        }
        var rest = magnitude.divided(by: other.magnitude).remainder
        for _ in 0..<(exponent - other.exponent) where rest != 0 {
            rest = other.magnitude.dividingFullWidth(rest.multipliedFullWidth(by: 10)).remainder
        }
        return Self.checked(isNegative, rest, other.exponent)
    }

    /// Rounds to an integer. Supports the rules `toNearestOrAwayFromZero`, `towardZero`, `up` and
    /// `down`.
    func rounded(_ rule: FloatingPointRoundingRule) -> ExactDecimal? {
        rounded(rule, toExponent: 0)
    }

    /// Rounds to a number of decimal places, halves away from zero. A negative number of places
    /// rounds to tens, hundreds and so on. Nil for more than 38 digits.
    func rounded(toPlaces places: Int64) -> ExactDecimal? {
        // No number has digits beyond.
        let exponent = Int(-min(max(places, -1_000), 1_000))
        return rounded(.toNearestOrAwayFromZero, toExponent: exponent)
    }

    /// Rounds to a multiple of a power of ten.
    private func rounded(
        _ rule: FloatingPointRoundingRule, toExponent unitExponent: Int
    ) -> ExactDecimal? {
        guard exponent < unitExponent else { return self }
        var whole: UInt128 = 0
        // Only whether the fraction is at least a half matters for rounding to nearest.
        var isHalf = false
        let digits = unitExponent - exponent
        if digits <= Self.digitsMax {
            let unit = Self.power(digits)
            let (quotient, rest) = magnitude.divided(by: unit)
            whole = quotient
            isHalf = rest >= unit - rest
        }
        let isAwayFromZero =
            switch rule {
            case .up: !isNegative
            case .down: isNegative
            case .toNearestOrAwayFromZero: isHalf
            default: false
            }
        return Self.checked(isNegative, isAwayFromZero ? whole + 1 : whole, unitExponent)
    }

    private static func checked(
        _ isNegative: Bool, _ magnitude: UInt128, _ exponent: Int
    ) -> ExactDecimal? {
        let number = ExactDecimal(
            isNegative: isNegative, magnitude: magnitude, exponent: exponent)
        return number.magnitude < magnitudeEnd ? number : nil
    }
}
