import LarderModel

// SQL and the in-memory evaluator share these comparisons.

extension StringOrder {
    /// Returns a negative number, zero or a positive number if the left string precedes, equals or
    /// follows the right one.
    package func compare(
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

    /// The order of UTF-8 bytes is that of the Unicode scalars.
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

    /// Bytewise, except that sequences of digits (0 to 9) on both sides are compared as numbers.
    /// Leading zeros are ignored.
    private static func natural(
        _ left: Substring.UTF8View, _ right: Substring.UTF8View
    ) -> Int {
        var (left, right) = (left, right)
        while let one = left.first, let other = right.first {
            if one.isASCIIDigit, other.isASCIIDigit {
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

    /// Removes the leading digits and returns them without leading zeros.
    private static func takeNumber(_ text: inout Substring.UTF8View) -> Substring.UTF8View {
        let digits = text.prefix(while: \.isASCIIDigit)
        text = text[digits.endIndex...]
        return digits.drop { $0 == UInt8(ascii: "0") }
    }

    private static func lowerCaseFirst(_ left: String, _ right: String) -> Int {
        func capitals(_ text: String) -> some Sequence<UInt8> {
            text.unicodeScalars.lazy.map { $0.properties.isUppercase ? 1 : 0 }
        }
        return bytewise(capitals(left), capitals(right))
    }
}
