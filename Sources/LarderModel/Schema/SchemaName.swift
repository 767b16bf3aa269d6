/// The rules for names of entities and properties.
package enum SchemaName {
    /// Whether the name matches `[A-Za-z][A-Za-z0-9_]*` and has at most `Limits.nameBytesMax`
    /// bytes.
    package static func isWellFormed(_ name: some StringProtocol) -> Bool {
        let bytes = name.utf8
        guard let first = bytes.first, first.isASCIILetter, bytes.count <= Limits.nameBytesMax
        else {
            return false
        }
        return bytes.allSatisfy { $0.isASCIILetter || $0.isASCIIDigit || $0 == UInt8(ascii: "_") }
    }
}
