public import FoundationEssentials

/// Aggregates over all numbers of a group.
public enum Statistics {
    /// The middle value, or the mean of the two middle values; nil without values.
    public static func median(
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
    public static func median(
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

    private static func sorted<Element: Comparable>(
        _ values: [Element], _ interruption: Interruption
    ) -> [Element] {
        var interruption = interruption
        return values.sorted { !interruption.isDue() && $0 < $1 }
    }

    /// The most frequent value, the smallest of several; nil without values.
    public static func mode<Element: Hashable>(
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
