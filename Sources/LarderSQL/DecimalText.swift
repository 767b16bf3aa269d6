import FoundationEssentials

/// The text in which decimals are stored: exact, with one text for each number.
///
/// The form is an optional `-`, digits without leading zeros, and, if there is a fraction, a point
/// and digits without trailing zeros. Zero is `0`. Equal numbers have equal bytes, and the
/// collation `decimal` defines their order.
package enum DecimalText {
    /// nil for NaN.
    package static func canonical(_ decimal: Decimal) -> String? {
        guard !decimal.isNaN else { return nil }
        let text = decimal.description
        let isNegative = text.hasPrefix("-")
        let parts = text.drop(while: { $0 == "-" }).split(
            separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        let whole = parts[0].drop(while: { $0 == "0" })
        var fraction = parts.count > 1 ? parts[1] : ""
        while fraction.last == "0" { fraction.removeLast() }
        if whole.isEmpty && fraction.isEmpty { return "0" }
        return (isNegative ? "-" : "") + (whole.isEmpty ? "0" : whole)
            + (fraction.isEmpty ? "" : ".") + fraction
    }

    /// Whether text is the canonical one of a decimal. False for some texts with zeros at the end
    /// of the whole number, which do not count as digits.
    package static func isCanonical(_ text: ArraySlice<UInt8>) -> Bool {
        let magnitude = text.first == minus ? text.dropFirst() : text
        let whole = magnitude.prefix { $0 != point }
        let fraction = magnitude[whole.endIndex...].dropFirst()
        let zero = UInt8(ascii: "0")
        let isDigit = { (byte: UInt8) in (zero...zero + 9).contains(byte) }
        guard let first = whole.first, first != zero || whole.count == 1,
            whole.count + fraction.count <= digitsMax,
            whole.allSatisfy(isDigit), fraction.allSatisfy(isDigit)
        else { return false }
        if whole.endIndex < magnitude.endIndex { return fraction.last.map { $0 != zero } ?? false }
        return first != zero || magnitude.count == text.count
    }

    /// The order of two canonical texts, in UTF-8: negative, zero or positive. Other bytes, as a
    /// damaged file may have, get some order, and never trap.
    package static func compare(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Int {
        let leftIsNegative = !left.isEmpty && left[0] == minus
        let rightIsNegative = !right.isEmpty && right[0] == minus
        if leftIsNegative != rightIsNegative { return leftIsNegative ? -1 : 1 }
        let order = compareMagnitudes(left, right, from: leftIsNegative ? 1 : 0)
        return leftIsNegative ? -order : order
    }

    package static func compare(_ left: String, _ right: String) -> Int {
        compare(Array(left.utf8).span, Array(right.utf8).span)
    }

    /// A number with more digits before the point is larger. If these are equally many, the first
    /// different digit decides, then the longer fraction is larger.
    private static func compareMagnitudes(
        _ left: Span<UInt8>, _ right: Span<UInt8>, from start: Int
    ) -> Int {
        var index = start
        var isFraction = false
        while index < left.count, index < right.count, left[index] == right[index] {
            if left[index] == point { isFraction = true }
            index += 1
        }
        if !isFraction {
            // Before the first difference both have the same digits.
            let order = wholeEnd(left, from: index) - wholeEnd(right, from: index)
            if order != 0 { return order }
        }
        guard index < left.count, index < right.count else { return left.count - right.count }
        return Int(left[index]) - Int(right[index])
    }

    private static func wholeEnd(_ text: Span<UInt8>, from start: Int) -> Int {
        var end = start
        while end < text.count, text[end] != point { end += 1 }
        return end
    }

    private static let digitsMax = 38
    private static let minus = UInt8(ascii: "-")
    private static let point = UInt8(ascii: ".")
}
