/// The last bytes of a backup file: eight letters, and the checksum of everything before them, the
/// most significant byte first.
///
/// They follow the last page of the database, where SQLite does not read. So a backup is a store
/// that can be opened as it is, and damage anywhere in it can be detected, which SQLite's own check
/// cannot do for the contents of values.
package enum BackupTrailer {
    private static let signature = Array("LARDERBK".utf8)
    package static let byteCount = 16

    package static func bytes(_ checksum: Checksum) -> [UInt8] {
        signature + (0..<8).map { UInt8(truncatingIfNeeded: checksum.value >> (56 - 8 * $0)) }
    }

    /// Whether these are the trailer of a file with this checksum.
    package static func matches(_ bytes: [UInt8], _ checksum: Checksum) -> Bool {
        bytes == self.bytes(checksum)
    }
}
