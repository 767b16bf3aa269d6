/// A number of any number of digits in a large base, for sums that lose nothing.
///
/// While numbers are added to it a digit may be negative and larger than the base; `normalized`
/// carries. What is computed with (`*`, `-` and what rounds) is normalized and not negative.
struct WideNumber: Sendable {
    /// 2^32 or 10^9: products of two digits have 64 bits.
    let base: Int64
    /// The power of the base that the first digit counts.
    private(set) var exponent: Int
    /// The lowest first.
    private(set) var digits: [Int64]
    private var additionsLeft = additionsMax

    static let binaryBase: Int64 = 1 << 32
    static let decimalBase: Int64 = 1_000_000_000
    /// Carried at the latest after so many numbers: 2^30 of 2^32 are within 64 bits.
    private static let additionsMax = 1 << 30

    /// Zero, with room for so many digits.
    init(base: Int64, exponent: Int, digitCount: Int) {
        self.base = base
        self.exponent = exponent
        digits = Array(repeating: 0, count: digitCount)
    }

    /// An integer that is not negative.
    init(_ integer: Int64, base: Int64) {
        self.init(base: base, exponent: 0, digitCount: 3)
        var rest = integer
        for place in digits.indices {
            (rest, digits[place]) = rest.quotientAndRemainder(dividingBy: base)
        }
    }

    /// The magnitude of a decimal, to the base 10^9.
    init(magnitudeOf decimal: ExactDecimal) {
        let shift = (decimal.exponent % 9 + 9) % 9
        self.init(
            base: Self.decimalBase, exponent: (decimal.exponent - shift) / 9, digitCount: 6)
        // The first digit takes fewer, so that the others are aligned.
        var (rest, part) = decimal.magnitude.quotientAndRemainder(
            dividingBy: UInt128(Self.powers[9 - shift]))
        digits[0] = Int64(part) * Self.powers[shift]
        for place in digits.indices.dropFirst() where rest != 0 {
            (rest, part) = rest.quotientAndRemainder(dividingBy: UInt128(base))
            digits[place] = Int64(part)
        }
    }

    /// Those of ten.
    private static let powers: [Int64] = (0...9).map {
        (0..<$0).reduce(1) { power, _ in power * 10 }
    }

    // MARK: Sums

    /// Adds `magnitude * 2^bit` times the lowest digit's value, to the base 2^32.
    mutating func add(_ magnitude: UInt64, atBit bit: Int, negated: Bool) {
        var rest = UInt128(magnitude) << UInt128(bit & 31)
        var place = bit >> 5
        while rest != 0 {
            let part = Int64(UInt32(truncatingIfNeeded: rest))
            digits[place] += negated ? -part : part
            rest >>= 32
            place += 1
        }
        countAddition()
    }

    /// Adds a number of the same base whose digits are all within this one's.
    mutating func add(_ number: WideNumber, negated: Bool) {
        let offset = number.exponent - exponent
        for (place, digit) in number.digits.enumerated() where digit != 0 {
            digits[offset + place] += negated ? -digit : digit
        }
        countAddition()
    }

    private mutating func countAddition() {
        additionsLeft -= 1
        if additionsLeft == 0 { carry() }
    }

    /// Brings every digit but the highest within 0 and the base.
    private mutating func carry() {
        for place in digits.indices.dropLast() where digits[place] < 0 || digits[place] >= base {
            var (over, rest) = digits[place].quotientAndRemainder(dividingBy: base)
            if rest < 0 {
                rest += base
                over -= 1
            }
            digits[place] = rest
            digits[place + 1] += over
        }
        additionsLeft = Self.additionsMax
    }

    /// The sign, and the magnitude: each digit within 0 and the base, and none but zeros left out.
    var normalized: (isNegative: Bool, magnitude: WideNumber) {
        var number = self
        number.carry()
        let isNegative = (number.digits.last ?? 0) < 0
        if isNegative {
            // All digits but the highest are positive after a carry; turned round, they are again.
            for place in number.digits.indices { number.digits[place].negate() }
            number.carry()
        }
        number.trim()
        return (isNegative, number)
    }

    private mutating func trim() {
        guard let first = digits.firstIndex(where: { $0 != 0 }),
            let last = digits.lastIndex(where: { $0 != 0 })
        else {
            digits = []
            exponent = 0
            return
        }
        digits = Array(digits[first...last])
        exponent += first
    }

    // MARK: Arithmetic

    static func * (left: WideNumber, right: WideNumber) -> WideNumber {
        var product = WideNumber(
            base: left.base, exponent: left.exponent + right.exponent,
            digitCount: left.digits.count + right.digits.count)
        let base = UInt64(left.base)
        for (start, leftDigit) in left.digits.enumerated() where leftDigit != 0 {
            var over: UInt64 = 0
            for (place, rightDigit) in right.digits.enumerated() {
                // At the most (base - 1)^2 + 2 * (base - 1), which is base^2 - 1.
                let sum =
                    UInt64(leftDigit) * UInt64(rightDigit)
                    + UInt64(product.digits[start + place]) + over
                product.digits[start + place] = Int64(sum % base)
                over = sum / base
            }
            product.digits[start + right.digits.count] = Int64(over)
        }
        product.trim()
        return product
    }

    /// Of a number that is not smaller.
    static func - (left: WideNumber, right: WideNumber) -> WideNumber {
        let exponent = min(left.exponent, right.exponent)
        let end = max(
            left.exponent + left.digits.count, right.exponent + right.digits.count)
        var difference = WideNumber(
            base: left.base, exponent: exponent, digitCount: end - exponent)
        difference.add(left, negated: false)
        difference.add(right, negated: true)
        return difference.normalized.magnitude
    }

    // MARK: Rounding

    /// The nearest double of `significand * 2^exponent`, to the base 2^32; the significand is 0 or
    /// has 64 bits before it is rounded.
    var binary: (significand: Double, exponent: Int) {
        let kept = 4
        var bits: UInt128 = 0
        for place in ((digits.count - kept)..<digits.count).reversed() {
            bits = bits << 32 | UInt128(place < 0 ? 0 : digits[place])
        }
        let shift = bits.leadingZeroBitCount
        guard shift < UInt128.bitWidth else { return (0, 0) }
        bits <<= UInt128(shift)
        // What is left off only decides on which side of a half the rest is.
        let hasRest = UInt64(truncatingIfNeeded: bits) != 0 || digits.count > kept
        let top = UInt64(truncatingIfNeeded: bits >> 64) | (hasRest ? 1 : 0)
        return (Double(top), 32 * (exponent + digits.count - kept) + 64 - shift)
    }

    /// `significand * 10^exponent`, to the base 10^9: of the first 37 digits at least.
    var decimal: (significand: Double, exponent: Int) {
        let dropped = max(0, digits.count - 5)
        return (Double("0\(Self.text(digits.dropFirst(dropped)))") ?? 0, 9 * (exponent + dropped))
    }

    /// To the base 10^9, as `12e-9`.
    var decimalText: String { "0\(Self.text(digits[...]))e\(9 * exponent)" }

    private static func text(_ digits: ArraySlice<Int64>) -> String {
        digits.reversed().reduce(into: "") { text, digit in
            let part = String(digit)
            text += String(repeating: "0", count: 9 - part.utf8.count) + part
        }
    }
}
