import FoundationEssentials
import LarderModel

// The standard deviation of a population is the square root of `n * Σx² - (Σx)²`, divided by `n`.
// The sums are exact, so the subtraction loses no precision and the order of the values does not
// matter.

/// The standard deviation of integers and doubles.
package struct Deviation: Sendable {
    private var sum = WideNumber(
        base: WideNumber.binaryBase, exponent: DoubleParts.lowestBit / 32, digitCount: 69)
    /// From 2^-2176 to beyond 2^2048, with room for 2^64 summands.
    private var squares = WideNumber(
        base: WideNumber.binaryBase, exponent: DoubleParts.lowestBit / 16, digitCount: 136)
    private var count: Int64 = 0
    private var hasInfinity = false

    package init() {}

    package mutating func add(_ integer: Int64) {
        add(integer.magnitude, atBit: -DoubleParts.lowestBit, negated: integer < 0)
    }

    /// Ignores NaN, which no store contains.
    package mutating func add(_ double: Double) {
        guard !double.isNaN else { return }
        guard let parts = DoubleParts(double) else {
            hasInfinity = true
            return
        }
        add(parts.significand, atBit: parts.bit, negated: parts.isNegative)
    }

    private mutating func add(_ magnitude: UInt64, atBit bit: Int, negated: Bool) {
        count += 1
        sum.add(magnitude, atBit: bit, negated: negated)
        let (high, low) = magnitude.multipliedFullWidth(by: magnitude)
        squares.add(low, atBit: 2 * bit, negated: false)
        squares.add(high, atBit: 2 * bit + 64, negated: false)
    }

    /// Nil without values, and if a value is infinite.
    package var value: Double? {
        guard count > 0, !hasInfinity else { return nil }
        let (significand, exponent) = spread(count, sum, squares).binary
        // The exponent must be even to take its root.
        let odd = exponent & 1
        let root = (odd == 0 ? significand : 2 * significand).squareRoot()
        return Double(
            sign: .plus, exponent: (exponent - odd) / 2, significand: root / Double(count))
    }
}

/// The standard deviation of decimals.
package struct DecimalDeviation: Sendable {
    private var sum = WideDecimalSum(exponent: -15)
    private var squares = WideDecimalSum(exponent: -30)
    private var count: Int64 = 0

    package init() {}

    /// Ignores NaN and numbers of more than 38 digits, which no store contains.
    package mutating func add(_ decimal: Decimal) {
        if let number = ExactDecimal(decimal) { add(number) }
    }

    package mutating func add(_ number: ExactDecimal) {
        count += 1
        sum.add(number)
        if let square = number.multiplied(by: number) {
            squares.add(square)
        } else {
            let magnitude = WideNumber(magnitudeOf: number)
            squares.add(magnitude * magnitude)
        }
    }

    /// Nil without values.
    package var value: Double? {
        guard count > 0 else { return nil }
        let (significand, exponent) = spread(count, sum.total, squares.total).decimal
        // The exponent must be even to take its root.
        let odd = exponent & 1
        let root = (odd == 0 ? significand : 10 * significand).squareRoot() / Double(count)
        let power = (exponent - odd) / 2
        // Small powers of ten are exact doubles; their reciprocals are not.
        return power < 0 ? root / Self.power(-power) : root * Self.power(power)
    }

    private static func power(_ exponent: Int) -> Double { Double("1e\(exponent)") ?? .nan }
}

/// `n * Σx² - (Σx)²`, which is never negative.
private func spread(
    _ count: Int64, _ sum: WideNumber, _ squares: WideNumber
) -> WideNumber {
    let sum = sum.normalized.magnitude
    let squares = squares.normalized.magnitude
    return WideNumber(count, base: squares.base) * squares - sum * sum
}
