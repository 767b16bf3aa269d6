import FoundationEssentials
import LarderModel

// Sums that do not depend on the order of the values: partial sums may be of any size, only the
// result must fit its type.

/// An exact sum of any number of integers.
package struct IntegerSum: Hashable, Sendable {
    private var sum: Int128 = 0
    package private(set) var count: Int64 = 0

    package init() {}

    /// Creates a sum from the sums of the high halves (`>> 32`) and the low halves (`& 0xFFFFFFFF`)
    /// of the integers.
    package init(highHalves: Int64, lowHalves: Int64, count: Int64) {
        sum = Int128(highHalves) << 32 + Int128(lowHalves)
        self.count = count
    }

    package mutating func add(_ integer: Int64) {
        sum += Int128(integer)
        count += 1
    }

    /// Removes an integer that was added.
    package mutating func remove(_ integer: Int64) {
        sum -= Int128(integer)
        count -= 1
    }

    package mutating func add(_ other: IntegerSum) {
        sum += other.sum
        count += other.count
    }

    /// Nil if the sum exceeds 64 bits.
    package var value: Int64? { Int64(exactly: sum) }

    /// Nil without values.
    package var average: Double? { count == 0 ? nil : Double(sum) / Double(count) }
}

/// An exact sum of any number of decimals.
package struct DecimalSum: Sendable {
    private var sum = WideDecimalSum(exponent: -15)
    package private(set) var count: Int64 = 0

    package init() {}

    /// Ignores NaN and numbers of more than 38 digits, which no store contains.
    package mutating func add(_ decimal: Decimal) {
        if let number = ExactDecimal(decimal) { add(number) }
    }

    package mutating func add(_ number: ExactDecimal) {
        count += 1
        sum.add(number)
    }

    /// Adds the number of a stored text, in UTF-8; ignores a text that is no decimal, as a damaged
    /// file may have.
    package mutating func add(storedText text: Span<UInt8>) {
        if let short = ShortDecimal(text) {
            add(short)
        } else if let number = ExactDecimal(storedText: text) {
            add(number)
        }
    }

    @inline(__always)
    package mutating func add(_ number: ShortDecimal) {
        if sum.add(number) { count += 1 } else { add(ExactDecimal(number)) }
    }

    /// Removes a decimal that was added.
    package mutating func remove(_ decimal: Decimal) {
        guard let number = ExactDecimal(decimal) else { return }
        count -= 1
        sum.add(-number)
    }

    package mutating func add(_ other: DecimalSum) {
        count += other.count
        sum.add(other.sum)
    }

    /// Nil if the sum has more digits than a decimal can hold.
    package var value: Decimal? { exactValue?.decimal }

    private var exactValue: ExactDecimal? {
        let (isNegative, magnitude) = sum.total.normalized
        return ExactDecimal(text: (isNegative ? "-" : "") + magnitude.decimalText)
    }

    /// The average to 38 digits; nil without values and if the sum is nil.
    package var average: Decimal? {
        guard count > 0, let sum = exactValue, sum.isDecimal else { return nil }
        return sum.divided(by: ExactDecimal(count))?.decimal
    }
}

/// A sum of decimals in two parts: an integer of 128 bits, to which usual numbers are added, and a
/// number with all digits, to which the integer is added before it overflows.
struct WideDecimalSum: Sendable {
    private var wide: WideNumber
    /// The sum of the numbers since the last change of ``wide``, in units of `10^exponent`.
    private var recent: Int128 = 0
    private var exponent = 0

    /// - Parameter exponent: The exponent of the smallest digit, as a power of 10^9: -15 for
    ///   decimals, that is from 10^-135 to beyond 10^165, the largest one, with room for 10^20
    ///   summands; -30 for their squares.
    init(exponent: Int) {
        wide = WideNumber(
            base: WideNumber.decimalBase, exponent: exponent, digitCount: exponent / -15 * 37)
    }

    mutating func add(_ number: ExactDecimal) {
        if number.exponent < exponent { moveExponent(to: number.exponent) }
        guard
            let scaled = ExactDecimal.scaled(number.magnitude, by: number.exponent - exponent),
            let summand = Int128(exactly: scaled)
        else { return wide.add(WideNumber(magnitudeOf: number), negated: number.isNegative) }
        let (sum, overflow) = recent.addingReportingOverflow(
            number.isNegative ? -summand : summand)
        if overflow {
            moveRecent()
            recent = number.isNegative ? -summand : summand
        } else {
            recent = sum
        }
    }

    /// Adds the number if it has no smaller digit than the sum, and if no overflow is possible.
    @inline(__always)
    mutating func add(_ number: ShortDecimal) -> Bool {
        let shift = number.exponent - exponent
        guard 0...18 ~= shift else { return false }
        let (high, low) = number.digits.multipliedFullWidth(
            by: Int64(truncatingIfNeeded: ExactDecimal.smallPowers[shift]))
        let (sum, overflow) = recent.addingReportingOverflow(Int128(high) << 64 | Int128(low))
        if !overflow { recent = sum }
        return !overflow
    }

    mutating func add(_ number: WideNumber) { wide.add(number, negated: false) }

    /// Adds a sum with the same range of digits.
    mutating func add(_ other: WideDecimalSum) {
        let (isNegative, magnitude) = other.total.normalized
        wide.add(magnitude, negated: isNegative)
    }

    /// Lowers the exponent, with the same sum.
    private mutating func moveExponent(to lower: Int) {
        if recent != 0 {
            let scaled = ExactDecimal.scaled(recent.magnitude, by: exponent - lower)
            if let scaled, let sum = Int128(exactly: scaled) {
                recent = recent < 0 ? -sum : sum
            } else {
                moveRecent()
            }
        }
        exponent = lower
    }

    private mutating func moveRecent() {
        wide = total
        recent = 0
    }

    /// The sum, not normalized.
    var total: WideNumber {
        var total = wide
        let number = ExactDecimal(
            isNegative: recent < 0, magnitude: recent.magnitude, exponent: exponent)
        total.add(WideNumber(magnitudeOf: number), negated: recent < 0)
        return total
    }
}

/// An exact sum of any number of doubles, rounded once when it is read.
package struct RealSum: Sendable {
    /// From 2^-1088 to beyond 2^1024, the largest double, with room for 2^64 summands.
    private var sum = WideNumber(
        base: WideNumber.binaryBase, exponent: DoubleParts.lowestBit / 32, digitCount: 69)
    /// The numbers of the infinite values.
    private var positiveInfinities = 0
    private var negativeInfinities = 0
    package private(set) var count: Int64 = 0

    package init() {}

    /// Ignores NaN, which no store contains.
    package mutating func add(_ double: Double) {
        guard !double.isNaN else { return }
        count += 1
        guard let parts = DoubleParts(double) else { return countInfinity(double, 1) }
        sum.add(parts.significand, atBit: parts.bit, negated: parts.isNegative)
    }

    /// Removes a double that was added.
    package mutating func remove(_ double: Double) {
        guard !double.isNaN else { return }
        count -= 1
        guard let parts = DoubleParts(double) else { return countInfinity(double, -1) }
        sum.add(parts.significand, atBit: parts.bit, negated: !parts.isNegative)
    }

    package mutating func add(_ other: RealSum) {
        let (isNegative, magnitude) = other.sum.normalized
        sum.add(magnitude, negated: isNegative)
        positiveInfinities += other.positiveInfinities
        negativeInfinities += other.negativeInfinities
        count += other.count
    }

    private mutating func countInfinity(_ infinity: Double, _ change: Int) {
        if infinity > 0 { positiveInfinities += change } else { negativeInfinities += change }
    }

    /// Infinite beyond the largest double; nil if both infinities occur.
    package var value: Double? { quotient(by: 1) }

    /// Nil without values, and if both infinities occur.
    package var average: Double? { count == 0 ? nil : quotient(by: Double(count)) }

    /// Divides before scaling, so that the average is finite even if the sum is not.
    private func quotient(by divisor: Double) -> Double? {
        if positiveInfinities > 0 { return negativeInfinities > 0 ? nil : .infinity }
        if negativeInfinities > 0 { return -.infinity }
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

    /// Less than the exponent of the smallest double; a multiple of 32.
    static let lowestBit = -1088

    /// Nil for infinities and NaN.
    init?(_ double: Double) {
        guard double.isFinite else { return nil }
        let pattern = Int(double.exponentBitPattern)
        isNegative = double.sign == .minus
        significand = double.significandBitPattern | (pattern == 0 ? 0 : 1 << 52)
        // Subnormal numbers have the same exponent as the smallest normal ones.
        bit = max(pattern, 1) - 1 - 1074 - Self.lowestBit
    }
}
