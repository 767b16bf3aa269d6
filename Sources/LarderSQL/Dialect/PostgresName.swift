/// Names of tables, columns, indexes and sequences in PostgreSQL, which have 63 bytes at most.
package enum PostgresName {
    package static let bytesMax = 63
    /// The length of the end of a name that is too long.
    private static let hashDigits = 16
    private static let separator = "~"

    /// A name that is too long has a hash of the whole at its end.
    package static func shortened(_ name: String) -> String {
        guard name.utf8.count > bytesMax else { return name }
        var start = name
        while start.utf8.count > bytesMax - hashDigits - separator.utf8.count {
            start.unicodeScalars.removeLast()
        }
        let digits = String(hash(of: name), radix: 16)
        let zeros = String(repeating: "0", count: hashDigits - digits.utf8.count)
        return start + separator + zeros + digits
    }

    /// - Parameter quoted: A name in its quotation marks. A schema has no names with such marks.
    static func shortened(quoted: [UInt8]) -> [UInt8] {
        guard quoted.count - 2 > bytesMax else { return quoted }
        let name = String(decoding: quoted.dropFirst().dropLast(), as: UTF8.self)
        return Array("\"\(shortened(name))\"".utf8)
    }

    /// FNV-1a.
    private static func hash(of name: String) -> UInt64 {
        name.utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    }
}
