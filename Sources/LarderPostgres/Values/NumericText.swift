/// The binary form of PostgreSQL's `numeric`, and numbers in digits: an optional `-`, digits, and,
/// if there is a fraction, a point and digits.
///
/// The binary form is a header of four 16-bit integers, and digits to the base 10,000: the number
/// of digits, the weight of the first one, the sign, and how many decimal places are shown.
enum NumericText {
    /// PostgreSQL's limits of a `numeric`.
    static let wholeDigitsMax = 131_072
    static let fractionDigitsMax = 16_383

    private static let zero = UInt8(ascii: "0")
    private static let positive: UInt16 = 0
    private static let negative: UInt16 = 0x4000
    private static let digitsPerGroup = 4
    private static let headerBytes = 8

    /// - Returns: nil for a text that is not a number in digits, or has more than PostgreSQL
    /// stores.
    static func encoded(_ text: String) -> [UInt8]? {
        var digits = Array(text.utf8)[...]
        let isNegative = digits.first == UInt8(ascii: "-")
        if isNegative { digits.removeFirst() }
        let whole = digits.prefix { $0 != UInt8(ascii: ".") }
        let fraction = digits[whole.endIndex...].dropFirst()
        let hasPoint = whole.endIndex < digits.endIndex
        guard !whole.isEmpty, !hasPoint || !fraction.isEmpty, whole.count <= wholeDigitsMax,
            fraction.count <= fractionDigitsMax, whole.allSatisfy(isDigit),
            fraction.allSatisfy(isDigit)
        else { return nil }
        var groups = groups(whole, fraction)
        var weight = (whole.count + digitsPerGroup - 1) / digitsPerGroup - 1
        while groups.first == 0 {
            groups.removeFirst()
            weight -= 1
        }
        while groups.last == 0 { groups.removeLast() }
        if groups.isEmpty { weight = 0 }
        var bytes: [UInt8] = []
        bytes += bigEndianBytes(UInt16(groups.count))
        bytes += bigEndianBytes(Int16(weight))
        bytes += bigEndianBytes(isNegative && !groups.isEmpty ? negative : positive)
        bytes += bigEndianBytes(UInt16(fraction.count))
        for group in groups { bytes += bigEndianBytes(group) }
        return bytes
    }

    /// The digits to the base 10,000. A group ends at the point.
    private static func groups(
        _ whole: ArraySlice<UInt8>, _ fraction: ArraySlice<UInt8>
    ) -> [UInt16] {
        let before = (digitsPerGroup - whole.count % digitsPerGroup) % digitsPerGroup
        let after = (digitsPerGroup - fraction.count % digitsPerGroup) % digitsPerGroup
        let digits =
            [UInt8](repeating: zero, count: before) + whole + fraction
            + [UInt8](repeating: zero, count: after)
        return stride(from: 0, to: digits.count, by: digitsPerGroup).map { start in
            digits[start..<start + digitsPerGroup].reduce(0) { $0 * 10 + UInt16($1 - zero) }
        }
    }

    /// - Returns: The number without zeros at the end of its fraction; nil for NaN, for an
    /// infinity,
    ///   and for other bytes.
    static func decoded(_ bytes: Span<UInt8>) -> String? {
        guard bytes.count >= headerBytes, bytes.count % 2 == 0 else { return nil }
        let count = bytes.count / 2 - headerBytes / 2
        let weight = Int(Int16(bitPattern: half(1, of: bytes)))
        let sign = half(2, of: bytes)
        guard half(0, of: bytes) == count, sign == positive || sign == negative else { return nil }
        var whole: [UInt8] = []
        var fraction: [UInt8] = []
        // Groups that are not sent are zero: those between the point and the first group, and those
        // between the last one and the point.
        for power in stride(from: max(weight, 0), through: min(weight - count + 1, 0), by: -1) {
            let index = weight - power
            let group = (0..<count).contains(index) ? half(4 + index, of: bytes) : 0
            guard group < 10_000 else { return nil }
            let digits = [group / 1_000, group / 100 % 10, group / 10 % 10, group % 10]
                .map { zero + UInt8($0) }
            if power >= 0 { whole += digits } else { fraction += digits }
        }
        whole = Array(whole.drop { $0 == zero })
        while fraction.last == zero { fraction.removeLast() }
        guard whole.count <= wholeDigitsMax, fraction.count <= fractionDigitsMax else { return nil }
        let isZero = whole.isEmpty && fraction.isEmpty
        var text: [UInt8] = sign == negative && !isZero ? [UInt8(ascii: "-")] : []
        text += whole.isEmpty ? [zero] : whole
        if !fraction.isEmpty { text += [UInt8(ascii: ".")] + fraction }
        return String(decoding: text, as: UTF8.self)
    }

    /// The 16-bit integer at an index.
    private static func half(_ index: Int, of bytes: Span<UInt8>) -> UInt16 {
        UInt16(bytes[2 * index]) << 8 | UInt16(bytes[2 * index + 1])
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (zero...zero + 9).contains(byte) }
}
