/// The significant digits and the exponent of decimal text. Texts of equal numbers have equal
/// digits: `1.50`, `15e-1` and `0.15e1` are all 15 and -1.
package struct DecimalDigits: Hashable {
    package let isNegative: Bool
    /// Without leading and trailing zeros; empty for zero.
    package let digits: [UInt8]
    /// The power of ten of the last digit; 0 for zero.
    package let exponent: Int

    /// Parses `-12.5e+3`; nil for any other form and for an exponent beyond a million.
    package init?(_ text: some StringProtocol) {
        var bytes = text.utf8[...]
        var isNegative = false
        if let sign = bytes.first, sign == UInt8(ascii: "-") || sign == UInt8(ascii: "+") {
            isNegative = sign == UInt8(ascii: "-")
            bytes.removeFirst()
        }
        let integer = bytes.prefix(while: \.isASCIIDigit)
        bytes = bytes[integer.endIndex...]
        var digits = Array(integer)
        var exponent = 0
        if bytes.first == UInt8(ascii: ".") {
            let fraction = bytes.dropFirst().prefix(while: \.isASCIIDigit)
            guard !fraction.isEmpty else { return nil }
            digits += fraction
            exponent = -fraction.count
            bytes = bytes[fraction.endIndex...]
        }
        guard !integer.isEmpty else { return nil }
        if bytes.first == UInt8(ascii: "e") || bytes.first == UInt8(ascii: "E") {
            let written = String(decoding: bytes.dropFirst(), as: UTF8.self)
            guard let power = Int(written), (-1_000_000...1_000_000).contains(power) else {
                return nil
            }
            exponent += power
        } else if !bytes.isEmpty {
            return nil
        }
        let zero = UInt8(ascii: "0")
        let kept = digits.drop { $0 == zero }
        let last = kept.lastIndex { $0 != zero }
        self.isNegative = isNegative
        self.digits = last.map { Array(kept[...$0]) } ?? []
        self.exponent = last.map { exponent + kept.endIndex - 1 - $0 } ?? 0
    }
}
