/// What an entity or a property may be called.
enum SchemaName {
    /// Whether the name matches `[A-Za-z][A-Za-z0-9_]*` and is not longer than
    /// `Limits.nameBytesMax`.
    static func isWellFormed(_ name: some StringProtocol) -> Bool {
        let bytes = name.utf8
        guard let first = bytes.first, isLetter(first), bytes.count <= Limits.nameBytesMax else {
            return false
        }
        return bytes.allSatisfy { isLetter($0) || isDigit($0) || $0 == UInt8(ascii: "_") }
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
            || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
}
