import LarderModel
import LarderSQL

/// Finds the newest transaction of the history in the pages of a database.
///
/// A log has pages only, and says nothing about transactions. The rows of `_transaction` are in a
/// B-tree by number, so the last row of the last leaf is the newest transaction. Its path has one
/// page per level, two or three of them. SQLite's documentation describes the pages.
struct HistoryTail {
    private static let levelsMax = 20

    /// The first page of the table.
    let rootPage: UInt32
    let pageBytes: Int

    /// The newest transaction in the database file, without the log.
    func moment(in database: Connection) throws(LarderError) -> ArchiveMoment {
        try moment { (number) throws(LarderError) in try page(number, in: database) }
    }

    func page(
        _ number: UInt32, in database: Connection
    ) throws(LarderError) -> [UInt8] {
        do throws(SQLError) {
            return try database.readFile(at: Int64(number - 1) * Int64(pageBytes), pageBytes)
        } catch {
            throw error.larderError
        }
    }

    /// - Parameter page: Returns the content of a page.
    func moment(
        _ page: (UInt32) throws(LarderError) -> [UInt8]
    ) throws(LarderError) -> ArchiveMoment {
        var number = rootPage
        for _ in 0..<Self.levelsMax {
            // Page 1 has the file header, and is never a page of this table.
            guard number > 1 else { throw Self.damaged }
            let bytes = try page(number)
            guard bytes.count == pageBytes else { throw Self.damaged }
            let cellCount = Int(bytes[3]) << 8 | Int(bytes[4])
            switch bytes[0] {
            case 5:
                number = bytes[8..<12].reduce(0) { $0 << 8 | UInt32($1) }
            case 13:
                guard cellCount > 0 else { return ArchiveMoment(transaction: 0, time: 0) }
                let pointer = 8 + 2 * (cellCount - 1)
                guard pointer + 2 <= bytes.count else { throw Self.damaged }
                let offset = Int(bytes[pointer]) << 8 | Int(bytes[pointer + 1])
                return try Self.row(bytes, at: offset)
            default: throw Self.damaged
            }
        }
        throw Self.damaged
    }

    /// The number and the time of a row: its key and its second column.
    private static func row(
        _ bytes: [UInt8], at offset: Int
    ) throws(LarderError) -> ArchiveMoment {
        var offset = offset
        _ = try varint(bytes, &offset)
        let number = Int64(bitPattern: try varint(bytes, &offset))
        let record = offset
        let headerBytes = try varint(bytes, &offset)
        // The key is stored as NULL.
        guard headerBytes < bytes.count, try varint(bytes, &offset) == 0 else { throw damaged }
        let type = try varint(bytes, &offset)
        let start = record + Int(headerBytes)
        func integer(_ count: Int) throws(LarderError) -> Int64 {
            guard start + count <= bytes.count else { throw damaged }
            let isNegative = bytes[start] >= 0x80
            return bytes[start..<start + count].reduce(isNegative ? -1 : 0) {
                $0 << 8 | Int64($1)
            }
        }
        // SQLite stores a whole number in a REAL column as an integer.
        let time: Double
        switch type {
        case 1...4: time = Double(try integer(Int(type)))
        case 5: time = Double(try integer(6))
        case 6: time = Double(try integer(8))
        case 7: time = Double(bitPattern: UInt64(bitPattern: try integer(8)))
        case 8: time = 0
        case 9: time = 1
        default: throw damaged
        }
        let moment = ArchiveMoment(transaction: number, time: time)
        guard number >= 1, moment.isValid else { throw damaged }
        return moment
    }

    private static func varint(
        _ bytes: [UInt8], _ offset: inout Int
    ) throws(LarderError) -> UInt64 {
        var value: UInt64 = 0
        for index in 0..<9 {
            guard bytes.indices.contains(offset) else { throw damaged }
            let byte = bytes[offset]
            offset += 1
            if index == 8 { return value << 8 | UInt64(byte) }
            value = value << 7 | UInt64(byte & 0x7f)
            if byte < 0x80 { return value }
        }
        return value
    }

    private static let damaged = LarderError(
        .storageFailed, "the history of the store cannot be read (a page of it is damaged)",
        hint: "run `larder check`")
}
