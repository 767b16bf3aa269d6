import LarderModel

/// A number with any number of digits in a large base, for exact sums.
///
/// While numbers are added, a digit may be negative or larger than the base; `normalized`
/// propagates the carries. Operands of `*`, `-` and of rounding must be normalized and not
/// negative.
struct WideNumber: Sendable {
    /// 2^32 or 10^9, so that a product of two digits fits in 64 bits.
    let base: Int64
    /// The exponent of the first digit, as a power of the base.
    private(set) var exponent: Int
    /// Least significant digit first.
    private(set) var digits: [Int64]
    private var additionsLeft = additionsMax

    static let binaryBase: Int64 = 1 << 32
    static let decimalBase: Int64 = 1_000_000_000
    /// The number of additions after which carries are propagated: 2^30 digits below 2^32 fit in 64
    /// bits.
    private static let additionsMax = 1 << 30

    /// Zero, with this number of digits.
    init(base: Int64, exponent: Int, digitCount: Int) {
        self.base = base
        self.exponent = exponent
        digits = Array(repeating: 0, count: digitCount)
    }

    /// Converts an integer that is not negative.
    init(_ integer: Int64, base: Int64) {
        self.init(base: base, exponent: 0, digitCount: 3)
        var rest = integer
        for index in digits.indices {
            (rest, digits[index]) = rest.quotientAndRemainder(dividingBy: base)
        }
    }

    /// The magnitude of a decimal in base 10^9.
    init(magnitudeOf decimal: ExactDecimal) {
        let shift = (decimal.exponent % 9 + 9) % 9
        self.init(
            base: Self.decimalBase, exponent: (decimal.exponent - shift) / 9, digitCount: 6)
        // The first digit holds fewer decimal digits, so that the others are aligned.
        var (rest, part) = decimal.magnitude.quotientAndRemainder(
            dividingBy: UInt128(Self.powers[9 - shift]))
        digits[0] = Int64(part) * Self.powers[shift]
        for index in digits.indices.dropFirst() where rest != 0 {
            (rest, part) = rest.quotientAndRemainder(dividingBy: UInt128(base))
            digits[index] = Int64(part)
        }
    }

    /// The powers of ten.
    private static let powers: [Int64] = (0...9).map {
        (0..<$0).reduce(1) { power, _ in power * 10 }
    }

    // MARK: Sums

    /// Adds `magnitude * 2^bit`, relative to the least significant digit, in base 2^32.
    mutating func add(_ magnitude: UInt64, atBit bit: Int, negated: Bool) {
        var rest = UInt128(magnitude) << UInt128(bit & 31)
        var index = bit >> 5
        while rest != 0 {
            let part = Int64(UInt32(truncatingIfNeeded: rest))
            digits[index] += negated ? -part : part
            rest >>= 32
            index += 1
        }
        countAddition()
    }

    /// Adds a number of the same base whose digits are all within the range of this one's.
    mutating func add(_ number: WideNumber, negated: Bool) {
        let offset = number.exponent - exponent
        for (index, digit) in number.digits.enumerated() where digit != 0 {
            digits[offset + index] += negated ? -digit : digit
        }
        countAddition()
    }

    private mutating func countAddition() {
        additionsLeft -= 1
        if additionsLeft == 0 { carry() }
    }

    /// Brings every digit except the most significant one into 0..<base.
    private mutating func carry() {
        for index in digits.indices.dropLast() where digits[index] < 0 || digits[index] >= base {
            var (over, rest) = digits[index].quotientAndRemainder(dividingBy: base)
            if rest < 0 {
                rest += base
                over -= 1
            }
            digits[index] = rest
            digits[index + 1] += over
        }
        additionsLeft = Self.additionsMax
    }

    /// The sign and the magnitude, with all digits in 0..<base and without zeros at either end.
    var normalized: (isNegative: Bool, magnitude: WideNumber) {
        var number = self
        number.carry()
        let isNegative = (number.digits.last ?? 0) < 0
        if isNegative {
            // After a carry only the most significant digit is negative; negating all requires
            // another carry.
            for index in number.digits.indices { number.digits[index].negate() }
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
            for (index, rightDigit) in right.digits.enumerated() {
                // At most (base - 1)^2 + 2 * (base - 1), which is base^2 - 1.
                let sum =
                    UInt64(leftDigit) * UInt64(rightDigit)
                    + UInt64(product.digits[start + index]) + over
                product.digits[start + index] = Int64(sum % base)
                over = sum / base
            }
            product.digits[start + right.digits.count] = Int64(over)
        }
        product.trim()
        return product
    }

    /// The right number must not be larger than the left one.
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

    /// The number as `significand * 2^exponent`, rounded to nearest, in base 2^32. The significand
    /// is 0 or has 64 bits before rounding.
    var binary: (significand: Double, exponent: Int) {
        let kept = 4
        var bits: UInt128 = 0
        for index in ((digits.count - kept)..<digits.count).reversed() {
            bits = bits << 32 | UInt128(index < 0 ? 0 : digits[index])
        }
        let shift = bits.leadingZeroBitCount
        guard shift < UInt128.bitWidth else { return (0, 0) }
        bits <<= UInt128(shift)
        // The dropped digits only decide on which side of a half the number is.
        let hasRest = UInt64(truncatingIfNeeded: bits) != 0 || digits.count > kept
        let top = UInt64(truncatingIfNeeded: bits >> 64) | (hasRest ? 1 : 0)
        return (Double(top), 32 * (exponent + digits.count - kept) + 64 - shift)
    }

    /// The number as `significand * 10^exponent`, in base 10^9, from at least the first 37 digits.
    var decimal: (significand: Double, exponent: Int) {
        let dropped = max(0, digits.count - 5)
        return (Double("0\(Self.text(digits.dropFirst(dropped)))") ?? 0, 9 * (exponent + dropped))
    }

    /// The number as `12e-9`, in base 10^9.
    var decimalText: String { "0\(Self.text(digits[...]))e\(9 * exponent)" }

    private static func text(_ digits: ArraySlice<Int64>) -> String {
        digits.reversed().reduce(into: "") { text, digit in
            let part = String(digit)
            text += String(repeating: "0", count: 9 - part.utf8.count) + part
        }
    }
}
