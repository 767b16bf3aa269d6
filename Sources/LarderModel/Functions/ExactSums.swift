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
public struct DecimalSum: Hashable, Sendable {
    /// Digits in groups of nine, the lowest first, from 10^-128 on. A group may be negative, and
    /// holds more than nine digits until it is carried.
    private var groups = Array(repeating: Int64(0), count: groupCount)
    public private(set) var count: Int64 = 0

    private static let groupDigits = 9
    private static let groupEnd: Int64 = 1_000_000_000
    private static let lowestExponent = -128
    /// From 10^-128 to beyond 10^165, the largest decimal, and 10^20 more for their number.
    private static let groupCount = 36
    /// Carried at the latest after so many numbers: 10^9 of 10^9 are within 64 bits.
    private static let carryInterval: Int64 = 1 << 30

    public init() {}

    /// What is not a number of 38 digits or less is passed over; no store holds it.
    public mutating func add(_ decimal: Decimal) {
        guard let number = ExactDecimal(decimal) else { return }
        count += 1
        if count % Self.carryInterval == 0 { carry() }
        let place = number.exponent - Self.lowestExponent
        guard place >= 0 else { return }
        var (group, shift) = place.quotientAndRemainder(dividingBy: Self.groupDigits)
        // The first group takes fewer digits, so that the others are aligned.
        var rest = number.magnitude
        while rest != 0, group < Self.groupCount {
            let taken = Self.power(Self.groupDigits - shift)
            let (quotient, digits) = rest.quotientAndRemainder(dividingBy: UInt128(taken))
            let part = Int64(digits) * Self.power(shift)
            groups[group] += number.isNegative ? -part : part
            rest = quotient
            group += 1
            shift = 0
        }
    }

    /// Nil where the sum has more digits than a decimal can hold.
    public var value: Decimal? {
        var carried = self
        carried.carry()
        let isNegative = (carried.groups.last { $0 != 0 } ?? 0) < 0
        if isNegative {
            // All groups but the highest are positive after a carry; turned round, they are again.
            for group in carried.groups.indices { carried.groups[group].negate() }
            carried.carry()
        }
        var digits = ""
        for group in carried.groups.reversed() {
            let text = String(group)
            digits += String(repeating: "0", count: Self.groupDigits - text.utf8.count) + text
        }
        let trimmed = digits.drop { $0 == "0" }
        return ExactDecimal(text: "\(isNegative ? "-" : "")0\(trimmed)e\(Self.lowestExponent)")?
            .decimal
    }

    /// The average to 38 digits; nil over none, and where the sum is nil.
    public var average: Decimal? {
        guard count > 0, let value, let sum = ExactDecimal(value) else { return nil }
        return sum.divided(by: ExactDecimal(count))?.decimal
    }

    /// Brings every group but the highest within 0 and 10^9.
    private mutating func carry() {
        for group in 0..<(Self.groupCount - 1) {
            var (over, rest) = groups[group].quotientAndRemainder(dividingBy: Self.groupEnd)
            if rest < 0 {
                rest += Self.groupEnd
                over -= 1
            }
            groups[group] = rest
            groups[group + 1] += over
        }
    }

    private static func power(_ exponent: Int) -> Int64 {
        (0..<exponent).reduce(1) { power, _ in power * 10 }
    }
}
