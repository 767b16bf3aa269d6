// The classes of ASCII characters that parsers share.

extension UInt8 {
    /// Whether the byte is one of `0` to `9`.
    @inlinable package var isASCIIDigit: Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self)
    }

    /// Whether the byte is one of `A` to `Z` or `a` to `z`.
    @inlinable package var isASCIILetter: Bool {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self)
            || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self)
    }

    /// The value of a hexadecimal digit; nil for other bytes.
    package var hexadecimalDigitValue: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}

extension UInt16 {
    /// The code unit of a `\u` escape from its four digits; nil for any other bytes.
    package init?(hexadecimalDigits digits: some Collection<UInt8>) {
        guard digits.count == 4 else { return nil }
        self = 0
        for byte in digits {
            guard let digit = byte.hexadecimalDigitValue else { return nil }
            self = self << 4 | UInt16(digit)
        }
    }
}
