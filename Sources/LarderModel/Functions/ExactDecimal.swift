import FoundationEssentials

/// A decimal number as an integer and a power of ten. Operations return an exact result or nil.
///
/// `Decimal` rounds results with too many digits without reporting it. Here a result has at most 38
/// digits and an exponent that a `Decimal` can hold, or it is nil.
struct ExactDecimal: Hashable {
    static let digitsMax = 38
    private static let exponentMin = -128
    /// 10^38, the first integer of more than 38 digits.
    private static let magnitudeEnd = power(38)

    private(set) var isNegative: Bool
    /// Without trailing zeros; 0 for zero.
    private(set) var magnitude: UInt128
    /// The power of ten of the last digit; 0 for zero.
    private(set) var exponent: Int

    static let zero = ExactDecimal(isNegative: false, magnitude: 0, exponent: 0)

    private init(isNegative: Bool, magnitude: UInt128, exponent: Int) {
        self.isNegative = magnitude != 0 && isNegative
        self.magnitude = magnitude
        self.exponent = magnitude == 0 ? 0 : exponent
        while self.magnitude != 0 {
            let (quotient, digit) = self.magnitude.quotientAndRemainder(dividingBy: 10)
            guard digit == 0 else { break }
            self.magnitude = quotient
            self.exponent += 1
        }
    }

    init(_ integer: Int64) {
        self.init(isNegative: integer < 0, magnitude: UInt128(integer.magnitude), exponent: 0)
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
        guard 0...19 ~= exponent else { return magnitude == 0 ? 0 : nil }
        let (whole, overflow) = magnitude.multipliedReportingOverflow(by: Self.power(exponent))
        guard !overflow, whole <= UInt128(Int64.min.magnitude) else { return nil }
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
    var double: Double { Double("\(isNegative ? "-" : "")\(magnitude)e\(exponent)") ?? .nan }

    private static func power(_ exponent: Int) -> UInt128 {
        (0..<exponent).reduce(1) { power, _ in power * 10 }
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
        let shift = high.exponent - low.exponent
        guard shift <= Self.digitsMax else { return nil }
        let (scaled, overflow) = high.magnitude.multipliedReportingOverflow(by: Self.power(shift))
        guard !overflow else { return nil }
        if high.isNegative == low.isNegative {
            let (sum, overflow) = scaled.addingReportingOverflow(low.magnitude)
            return overflow ? nil : Self.checked(high.isNegative, sum, low.exponent)
        }
        return scaled >= low.magnitude
            ? Self.checked(high.isNegative, scaled - low.magnitude, low.exponent)
            : Self.checked(low.isNegative, low.magnitude - scaled, low.exponent)
    }

    func multiplied(by other: ExactDecimal) -> ExactDecimal? {
        var (high, low) = magnitude.multipliedFullWidth(by: other.magnitude)
        var exponent = exponent + other.exponent
        // The product is exact only if the digits that do not fit are zeros.
        while high != 0 {
            let (quotient, rest) = high.quotientAndRemainder(dividingBy: 10)
            let (lowQuotient, digit) = UInt128(10).dividingFullWidth((rest, low))
            guard digit == 0 else { return nil }
            (high, low) = (quotient, lowQuotient)
            exponent += 1
        }
        return Self.checked(isNegative != other.isNegative, low, exponent)
    }

    /// The quotient to 38 digits, rounded to nearest with halves away from zero. Nil for a division
    /// by zero.
    func divided(by other: ExactDecimal) -> ExactDecimal? {
        guard other.magnitude != 0 else { return nil }
        var (quotient, rest) = magnitude.quotientAndRemainder(dividingBy: other.magnitude)
        var exponent = exponent - other.exponent
        while rest != 0, quotient < Self.power(Self.digitsMax - 1), exponent > Self.exponentMin {
            let (digit, next) = other.magnitude.dividingFullWidth(
                rest.multipliedFullWidth(by: 10))
            quotient = quotient * 10 + digit
            rest = next
            exponent -= 1
        }
        if rest != 0, rest >= other.magnitude - rest { quotient += 1 }
        return Self.checked(isNegative != other.isNegative, quotient, exponent)
    }

    /// The remainder of the division with the quotient truncated to an integer, with the sign of
    /// the dividend; nil for a division by zero.
    func remainder(dividingBy other: ExactDecimal) -> ExactDecimal? {
        guard other.magnitude != 0 else { return nil }
        if exponent < other.exponent {
            let shift = other.exponent - exponent
            guard shift <= Self.digitsMax else { return self }
            let (divisor, overflow) = other.magnitude.multipliedReportingOverflow(
                by: Self.power(shift))
            return overflow ? self : Self.checked(isNegative, magnitude % divisor, exponent)
        }
        var rest = magnitude % other.magnitude
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
            let (quotient, rest) = magnitude.quotientAndRemainder(dividingBy: unit)
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
