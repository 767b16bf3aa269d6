import FoundationEssentials
import LarderModel

// The format of the files of an archive. All numbers are big-endian, as in SQLite's files, and all
// records consist of words of eight bytes. `docs/archive.md` describes the format.

/// The first bytes of a file of an archive.
struct ArchiveHeader: Hashable {
    enum Kind: UInt32 {
        /// The commits between two moments.
        case segment = 1
        /// The whole database at one moment.
        case base = 2
    }

    static let magic: UInt64 = 0x4c61_7264_6572_4172  // "LarderAr"
    static let formatVersion: UInt32 = 1
    static let byteCount = 104

    var kind: Kind
    var store: UUID
    /// See ``StoreDescription/historyEpoch``.
    var epoch: Int64
    var generation: Int64
    /// A random number, which the store has in its catalog.
    var generationIdentity: UInt64
    /// The number of a segment in its generation, from 1. For a base: the number of the last
    /// segment that it contains, 0 if none.
    var sequence: Int64
    /// The identity of the segment before this one. For a base: of the last one that it contains.
    /// Before the first segment it is 0.
    var previous: UInt64
    var pageBytes: Int
    /// The last transaction and its time before the first commit of the file.
    var start: ArchiveMoment

    var bytes: [UInt8] {
        var writer = WordWriter()
        writer.append(Self.magic)
        writer.append(Self.formatVersion, kind.rawValue)
        writer.bytes += store.bytes
        writer.append(UInt64(bitPattern: epoch))
        writer.append(UInt64(bitPattern: generation))
        writer.append(generationIdentity)
        writer.append(UInt64(bitPattern: sequence))
        writer.append(previous)
        writer.append(UInt32(pageBytes), 0)
        writer.append(start)
        var checksum = ArchiveChecksum()
        checksum.add(writer.bytes)
        writer.append(checksum.value)
        return writer.bytes
    }
}

/// The last transaction of a state of the store.
struct ArchiveMoment: Hashable {
    /// Its number; 0 if there is none.
    var transaction: Int64
    /// When it was committed, in seconds since 2001.
    var time: Double

    /// Whether the numbers may be those of a store.
    var isValid: Bool { Limits.transactionNumbers.contains(transaction) && time.isFinite }
}

/// The end of a file of an archive.
struct ArchiveTrailer: Hashable {
    static let byteCount = 64

    var commitCount: Int64
    /// The last transaction of the file's last commit.
    var end: ArchiveMoment
    /// Where the next segment begins in the write-ahead log.
    var position: LogPosition

    /// Without the checksum of the file, which follows.
    var bytes: [UInt8] {
        var writer = WordWriter()
        writer.append(ArchiveRecord.endKind, 0)
        writer.append(UInt64(bitPattern: commitCount))
        writer.append(end)
        writer.append(position.salts)
        writer.append(UInt32(position.frame), 0)
        writer.append(position.checksum)
        return writer.bytes
    }
}

enum ArchiveRecord {
    /// A page: its number, and its bytes.
    static let pageKind: UInt32 = 1
    /// The end of a commit: the size of the database in pages, and the moment.
    static let commitKind: UInt32 = 2
    static let endKind: UInt32 = 3

    static let headBytes = 8
    static let commitBytes = 24
    static let pageBytesAllowed: ClosedRange<Int> = 512...65_536
    /// The numbers of pages that SQLite permits.
    static let pagesAllowed: ClosedRange<UInt32> = 1...0xFFFF_FFFE
    /// The numbers of generations and segments. More cannot be made, and each has a successor.
    static let numbersAllowed: ClosedRange<Int64> = 0...1 << 62

    static func commit(_ moment: ArchiveMoment, databasePages: UInt32) -> [UInt8] {
        var writer = WordWriter()
        writer.append(commitKind, databasePages)
        writer.append(moment)
        return writer.bytes
    }

    static func pageHead(_ number: UInt32) -> [UInt8] {
        var writer = WordWriter()
        writer.append(pageKind, number)
        return writer.bytes
    }
}

/// Where a copy of the write-ahead log ends.
struct LogPosition: Hashable {
    /// The salts of the log's header.
    var salts: UInt64
    /// The number of frames that have been copied.
    var frame: Int
    /// The checksum in the last of these frames, which depends on all frames of the log before it.
    var checksum: UInt64

    static let start = LogPosition(salts: 0, frame: 0, checksum: 0)
}

struct WordWriter {
    var bytes: [UInt8] = []

    mutating func append(_ word: UInt64) {
        withUnsafeBytes(of: word.bigEndian) { bytes += $0 }
    }

    mutating func append(_ high: UInt32, _ low: UInt32) {
        append(UInt64(high) << 32 | UInt64(low))
    }

    mutating func append(_ moment: ArchiveMoment) {
        append(UInt64(bitPattern: moment.transaction))
        append(moment.time.bitPattern)
    }
}

struct WordReader {
    private let bytes: [UInt8]
    private var offset = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// The next word. The caller has checked the length.
    mutating func word() -> UInt64 {
        defer { offset += 8 }
        return bytes.withUnsafeBytes {
            UInt64(bigEndian: $0.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
        }
    }

    mutating func halves() -> (UInt32, UInt32) {
        let word = word()
        return (UInt32(word >> 32), UInt32(truncatingIfNeeded: word))
    }

    mutating func moment() -> ArchiveMoment {
        ArchiveMoment(
            transaction: Int64(bitPattern: word()), time: Double(bitPattern: word()))
    }

    mutating func uuid() -> UUID {
        defer { offset += 16 }
        guard let uuid = UUID(bytes: bytes[offset..<offset + 16]) else {
            preconditionFailure("16 bytes are a UUID")
        }
        return uuid
    }
}
