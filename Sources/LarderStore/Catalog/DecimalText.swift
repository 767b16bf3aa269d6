import FoundationEssentials

/// The text in which decimals are stored: exact, with one text for each number.
///
/// The form is an optional `-`, digits without leading zeros, and, if there is a fraction, a point
/// and digits without trailing zeros. Zero is `0`. Equal numbers have equal bytes, and the
/// collation `decimal` defines their order.
enum DecimalText {
    /// nil for NaN.
    static func canonical(_ decimal: Decimal) -> String? {
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
    static func isCanonical(_ text: ArraySlice<UInt8>) -> Bool {
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
    static func compare<Bytes: BidirectionalCollection>(_ left: Bytes, _ right: Bytes) -> Int
    where Bytes.Element == UInt8 {
        let leftIsNegative = left.first == minus
        let rightIsNegative = right.first == minus
        if leftIsNegative != rightIsNegative { return leftIsNegative ? -1 : 1 }
        let order = compareMagnitudes(
            left.dropFirst(leftIsNegative ? 1 : 0), right.dropFirst(rightIsNegative ? 1 : 0))
        return leftIsNegative ? -order : order
    }

    /// A number with more digits before the point is larger. If these are equally many, the first
    /// different digit decides, then the longer fraction is larger.
    private static func compareMagnitudes<Bytes: BidirectionalCollection>(
        _ left: Bytes, _ right: Bytes
    ) -> Int where Bytes.Element == UInt8 {
        let leftWhole = left.prefix(while: { $0 != point })
        let rightWhole = right.prefix(while: { $0 != point })
        if leftWhole.count != rightWhole.count { return leftWhole.count - rightWhole.count }
        for (one, other) in zip(left, right) where one != other { return Int(one) - Int(other) }
        return left.count - right.count
    }

    private static let digitsMax = 38
    private static let minus = UInt8(ascii: "-")
    private static let point = UInt8(ascii: ".")
}
