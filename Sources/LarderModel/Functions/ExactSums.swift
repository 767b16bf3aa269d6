public import FoundationEssentials

// Sums that do not depend on the order of what is added: a partial sum may be of any size, and only
// the whole has to fit.

/// A sum of integers, exact for any number of them.
public struct IntegerSum: Hashable, Sendable {
    private var sum: Int128 = 0
    public private(set) var count: Int64 = 0

    public init() {}

    /// The sum of integers from the sums of their halves: of what `>> 32` and `& 0xFFFFFFFF` make
    /// of each.
    public init(highHalves: Int64, lowHalves: Int64, count: Int64) {
        sum = Int128(highHalves) << 32 + Int128(lowHalves)
        self.count = count
    }

    public mutating func add(_ integer: Int64) {
        sum += Int128(integer)
        count += 1
    }

    /// Nil beyond 64 bits.
    public var value: Int64? { Int64(exactly: sum) }

    /// Nil over none.
    public var average: Double? { count == 0 ? nil : Double(sum) / Double(count) }
}

/// A sum of decimals, exact for any number of them.
public struct DecimalSum: Sendable {
    /// From 10^-135 to beyond 10^165, the largest decimal, and 10^20 more for their number.
    private var sum = WideNumber(base: WideNumber.decimalBase, exponent: -15, digitCount: 37)
    public private(set) var count: Int64 = 0

    public init() {}

    /// What is not a number of 38 digits or less is passed over; no store holds it.
    public mutating func add(_ decimal: Decimal) {
        guard let number = ExactDecimal(decimal) else { return }
        count += 1
        sum.add(WideNumber(magnitudeOf: number), negated: number.isNegative)
    }

    /// Nil where the sum has more digits than a decimal can hold.
    public var value: Decimal? {
        let (isNegative, magnitude) = sum.normalized
        return ExactDecimal(text: (isNegative ? "-" : "") + magnitude.decimalText)?.decimal
    }

    /// The average to 38 digits; nil over none, and where the sum is nil.
    public var average: Decimal? {
        guard count > 0, let value, let sum = ExactDecimal(value) else { return nil }
        return sum.divided(by: ExactDecimal(count))?.decimal
    }
}

/// A sum of doubles, exact for any number of them: it is rounded once, at its end.
public struct RealSum: Sendable {
    /// From 2^-1088 to beyond 2^1024, the largest double, and 2^64 more for their number.
    private var sum = WideNumber(
        base: WideNumber.binaryBase, exponent: DoubleParts.lowestBit / 32, digitCount: 69)
    /// Of what is infinite: not a number over both infinities.
    private var infinity = 0.0
    public private(set) var count: Int64 = 0

    public init() {}

    /// What is not a number is passed over; no store holds it.
    public mutating func add(_ double: Double) {
        guard !double.isNaN else { return }
        count += 1
        guard let parts = DoubleParts(double) else {
            infinity += double
            return
        }
        sum.add(parts.significand, atBit: parts.bit, negated: parts.isNegative)
    }

    /// Infinite beyond the largest double; nil over both infinities.
    public var value: Double? { quotient(by: 1) }

    /// Nil over none, and over both infinities.
    public var average: Double? { count == 0 ? nil : quotient(by: Double(count)) }

    /// Divided before it is scaled: the average is a double also where the sum is not.
    private func quotient(by divisor: Double) -> Double? {
        if infinity.isNaN { return nil }
        if infinity != 0 { return infinity }
        let (isNegative, magnitude) = sum.normalized
        let (significand, exponent) = magnitude.binary
        guard significand != 0 else { return 0 }
        return Double(
            sign: isNegative ? .minus : .plus, exponent: exponent,
            significand: significand / divisor)
    }
}

/// A finite double as an integer and a power of two.
struct DoubleParts {
    let isNegative: Bool
    let significand: UInt64
    /// The power of two of the significand, counted from 2^-1088.
    let bit: Int

    /// Below the smallest double; a multiple of 32.
    static let lowestBit = -1088

    /// Nil for what is infinite or not a number.
    init?(_ double: Double) {
        guard double.isFinite else { return nil }
        let pattern = Int(double.exponentBitPattern)
        isNegative = double.sign == .minus
        significand = double.significandBitPattern | (pattern == 0 ? 0 : 1 << 52)
        // Those without a leading one begin where the smallest that have one do.
        bit = max(pattern, 1) - 1 - 1074 - Self.lowestBit
    }
}
