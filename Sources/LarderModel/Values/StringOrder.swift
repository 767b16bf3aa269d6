/// The orders in which strings are sorted. SQL and an evaluator in memory share them.
///
/// Each is total, only equal strings have no order between them, and takes time in proportion to
/// their lengths.
public enum StringOrder: Hashable, Sendable, CaseIterable {
    /// By Unicode scalars.
    case plain
    /// By the form that `[c]` compares, then plainly.
    case caseInsensitive
    /// For people: without case and diacritics first, runs of digits as numbers; then diacritics,
    /// then lower case before upper, then plainly.
    case localizedStandard

    /// Negative, zero or positive, as the left string stands in front of the right one or behind.
    public func compare(
        _ left: String, _ right: String, _ interruption: Interruption = .never
    ) -> Int {
        if self != .plain {
            let order =
                self == .caseInsensitive
                ? caseless(left, right, interruption) : localized(left, right, interruption)
            if order != 0 { return order }
        }
        return Self.bytewise(left.utf8, right.utf8)
    }

    private func caseless(
        _ left: String, _ right: String, _ interruption: Interruption
    ) -> Int {
        Self.bytewise(
            left.folded(
                caseInsensitive: true, diacriticInsensitive: false, interruption
            ).utf8,
            right.folded(
                caseInsensitive: true, diacriticInsensitive: false, interruption
            ).utf8)
    }

    private func localized(
        _ left: String, _ right: String, _ interruption: Interruption
    ) -> Int {
        let order = Self.natural(
            left.folded(
                caseInsensitive: true, diacriticInsensitive: true, interruption
            ).utf8[...],
            right.folded(
                caseInsensitive: true, diacriticInsensitive: true, interruption
            ).utf8[...])
        if order != 0 { return order }
        let marked = caseless(left, right, interruption)
        return marked != 0 ? marked : Self.lowerCaseFirst(left, right)
    }

    /// UTF-8 orders as the scalars do that it stands for.
    private static func bytewise(
        _ left: some Sequence<UInt8>, _ right: some Sequence<UInt8>
    ) -> Int {
        var (left, right) = (left.makeIterator(), right.makeIterator())
        while true {
            switch (left.next(), right.next()) {
            case (nil, nil): return 0
            case (nil, _?): return -1
            case (_?, nil): return 1
            case (let one?, let other?):
                if one != other { return one < other ? -1 : 1 }
            }
        }
    }

    /// Bytewise, but where digits (0 to 9) stand on both sides by the numbers that they make.
    /// Leading zeros count nothing.
    private static func natural(
        _ left: Substring.UTF8View, _ right: Substring.UTF8View
    ) -> Int {
        var (left, right) = (left, right)
        while let one = left.first, let other = right.first {
            if isDigit(one), isDigit(other) {
                let (number, another) = (takeNumber(&left), takeNumber(&right))
                if number.count != another.count { return number.count - another.count }
                let order = bytewise(number, another)
                if order != 0 { return order }
            } else if one != other {
                return one < other ? -1 : 1
            } else {
                left.removeFirst()
                right.removeFirst()
            }
        }
        return left.isEmpty ? (right.isEmpty ? 0 : -1) : 1
    }

    /// Takes the digits in front, and returns them without leading zeros.
    private static func takeNumber(_ text: inout Substring.UTF8View) -> Substring.UTF8View {
        let digits = text.prefix(while: isDigit)
        text = text[digits.endIndex...]
        return digits.drop { $0 == UInt8(ascii: "0") }
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }

    private static func lowerCaseFirst(_ left: String, _ right: String) -> Int {
        func capitals(_ text: String) -> some Sequence<UInt8> {
            text.unicodeScalars.lazy.map { $0.properties.isUppercase ? 1 : 0 }
        }
        return bytewise(capitals(left), capitals(right))
    }
}
