import LarderModel

/// The numbers in the first 100 bytes of a database file that tell what it is.
struct DatabaseHeader {
    static let byteCount = 100
    private static let signature = Array("SQLite format 3".utf8) + [0]

    private let bytes: [UInt8]

    /// - Returns: nil if the file is not a database.
    init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.byteCount, bytes.starts(with: Self.signature) else { return nil }
        self.bytes = bytes
    }

    private func number(at offset: Int, _ count: Int) -> Int {
        bytes[offset..<offset + count].reduce(0) { $0 << 8 | Int($1) }
    }

    var pageByteCount: Int { number(at: 16, 2) == 1 ? 65_536 : number(at: 16, 2) }
    var pageCount: Int { number(at: 28, 4) }
    var formatVersion: Int64 { Int64(number(at: 60, 4)) }
    var applicationID: Int64 { Int64(number(at: 68, 4)) }

    /// Whether the database has a write-ahead log as soon as it is opened. A backup has none.
    var usesLog: Bool { number(at: 18, 1) == 2 || number(at: 19, 1) == 2 }

    /// The header with a rollback journal instead of the log, and with the changes of the file
    /// counted once more, so that SQLite reads the pages again that it has in memory.
    var withoutLog: [UInt8] {
        var changed = bytes
        (changed[18], changed[19]) = (1, 1)
        let changes = number(at: 24, 4) + 1
        for index in 0..<4 {
            let byte = UInt8(truncatingIfNeeded: changes >> (24 - 8 * index))
            // The number of pages is valid for this number of changes.
            changed[24 + index] = byte
            changed[92 + index] = byte
        }
        return changed
    }
}
