import FoundationEssentials
import LarderModel

/// Aggregates over all numbers of a group.
package enum Statistics {
    /// The middle value, or the mean of the two middle values; nil without values.
    package static func median(
        _ values: [Double], _ interruption: Interruption = .never
    ) -> Double? {
        let values = sorted(values, interruption)
        let middle = values.count / 2
        if values.isEmpty { return nil }
        if values.count % 2 == 1 { return values[middle] }
        let (low, high) = (values[middle - 1], values[middle])
        let mean = (low + high) / 2
        // The sum of two large values may overflow although their mean does not. The mean of
        // opposite infinities is undefined.
        let median = mean.isFinite ? mean : low / 2 + high / 2
        return median.isNaN ? nil : median
    }

    /// The median of decimals, to 38 digits.
    package static func median(
        _ values: [Decimal], _ interruption: Interruption = .never
    ) -> Decimal? {
        let values = sorted(values, interruption)
        let middle = values.count / 2
        if values.isEmpty { return nil }
        if values.count % 2 == 1 { return values[middle] }
        var sum = DecimalSum()
        sum.add(values[middle - 1])
        sum.add(values[middle])
        return sum.average
    }

    fileprivate static func sorted<Element: Comparable>(
        _ values: [Element], _ interruption: Interruption
    ) -> [Element] {
        var interruption = interruption
        return values.sorted { !interruption.isDue() && $0 < $1 }
    }

    /// The most frequent value, the smallest of several; nil without values.
    package static func mode<Element: Hashable>(
        _ counts: [Element: Int], isLess: (Element, Element) -> Bool
    ) -> Element? {
        var best: (element: Element, count: Int)?
        for (element, count) in counts {
            if let known = best,
                count < known.count || (count == known.count && !isLess(element, known.element))
            {
                continue
            }
            best = (element, count)
        }
        return best?.element
    }
}

/// The median of any number of decimals. Usual numbers take 8 bytes each.
package struct DecimalMedian: Sendable {
    /// Numbers that are multiples of `10^exponent` and fit in 64 bits.
    private var integers: [Int64] = []
    private var exponent = 0
    private var greatest: UInt64 = 0
    private var others: [Decimal] = []

    package init() {}

    package var count: Int { integers.count + others.count }

    /// Ignores a number that a `Decimal` cannot hold, which no store contains.
    package mutating func add(_ number: ExactDecimal) {
        if number.exponent < exponent { lowerExponent(to: number.exponent) }
        if number.exponent >= exponent,
            let scaled = ExactDecimal.scaled(number.magnitude, by: number.exponent - exponent),
            let integer = Int64(exactly: scaled)
        {
            integers.append(number.isNegative ? -integer : integer)
            greatest = max(greatest, integer.magnitude)
        } else if let decimal = number.decimal {
            others.append(decimal)
        }
    }

    /// Does nothing if an integer would exceed 64 bits.
    private mutating func lowerExponent(to lower: Int) {
        guard let end = ExactDecimal.scaled(UInt128(greatest), by: exponent - lower),
            Int64(exactly: end) != nil,
            let scale = ExactDecimal.scaled(1, by: exponent - lower).flatMap(Int64.init(exactly:))
        else { return }
        for index in integers.indices { integers[index] *= scale }
        greatest *= scale.magnitude
        exponent = lower
    }

    /// The middle value, or the mean of the two middle values to 38 digits; nil without values, and
    /// if the sum of the middle values has more digits than a decimal can hold.
    package mutating func value(_ interruption: Interruption = .never) -> Decimal? {
        integers = Statistics.sorted(integers, interruption)
        others = Statistics.sorted(others, interruption)
        let middle = count / 2
        if count == 0 { return nil }
        if count % 2 == 1 { return values(from: middle, count: 1, interruption).first }
        var sum = DecimalSum()
        for value in values(from: middle - 1, count: 2, interruption) { sum.add(value) }
        return sum.average
    }

    /// Some values of both sorted lists in their common order.
    private func values(
        from start: Int, count: Int, _ interruption: Interruption
    ) -> [Decimal] {
        var interruption = interruption
        var values: [Decimal] = []
        var index = others.isEmpty ? start : 0
        var other = 0
        while values.count < count, !interruption.isDue() {
            let integer = index < integers.count ? decimal(integers[index]) : nil
            let next: Decimal?
            if other < others.count, integer.map({ others[other] < $0 }) ?? true {
                next = others[other]
                other += 1
            } else {
                next = integer
                index += 1
            }
            guard let next else { break }
            if index + other > start { values.append(next) }
        }
        return values
    }

    private func decimal(_ integer: Int64) -> Decimal? {
        ExactDecimal(
            isNegative: integer < 0, magnitude: UInt128(integer.magnitude), exponent: exponent
        ).decimal
    }
}
