import LarderModel

/// SQLite's write-ahead log, read as SQLite's documentation describes the format.
///
/// A log begins with a header. Each frame is one page; the last frame of a commit has the size of
/// the database. The checksum of a frame depends on all frames before it, and a log that is written
/// again from its beginning has other salts. So frames of an earlier log, and frames that were not
/// written completely, are recognized.
struct LogFile {
    struct Header: Hashable {
        let salts: UInt64
        let pageBytes: Int
        /// Whether the words of the checksum are big-endian.
        let isBigEndian: Bool
        /// The checksum of the header, with which that of the first frame begins.
        let checksum: UInt64

        var start: LogPosition { LogPosition(salts: salts, frame: 0, checksum: checksum) }
    }

    struct Frame {
        let page: UInt32
        /// The size of the database in pages, for the last frame of a commit; otherwise 0.
        let databasePages: UInt32
        let bytes: [UInt8]
        /// The log up to this frame.
        let position: LogPosition

        var isCommit: Bool { databasePages > 0 }
    }

    private static let headerBytes = 32
    private static let frameHeaderBytes = 24
    private static let framesPerRead = 64

    private let file: RawFile

    init(_ path: String) throws(LarderError) { file = try RawFile(reading: path) }

    /// nil if the log is empty, or its header has not been written completely.
    func header() throws(LarderError) -> Header? {
        let bytes = try file.read(at: 0, Self.headerBytes)
        guard bytes.count == Self.headerBytes else { return nil }
        var reader = WordReader(bytes)
        let (magic, version) = reader.halves()
        let (pageBytes, _) = reader.halves()
        let salts = reader.word()
        let stored = reader.word()
        guard magic & ~1 == 0x377f_0682, version == 3_007_000,
            ArchiveRecord.pageBytesAllowed.contains(Int(pageBytes))
        else { return nil }
        let isBigEndian = magic & 1 == 1
        let checksum = Self.checksum(of: bytes, 0..<24, from: 0, isBigEndian: isBigEndian)
        guard checksum == stored else { return nil }
        return Header(
            salts: salts, pageBytes: Int(pageBytes), isBigEndian: isBigEndian, checksum: checksum)
    }

    /// Calls a function with each valid frame after a position, until it returns false.
    func forEachFrame(
        after start: LogPosition, _ header: Header,
        _ body: (Frame) throws(LarderError) -> Bool
    ) throws(LarderError) {
        let size = Self.frameHeaderBytes + header.pageBytes
        var position = start
        while true {
            let bytes = try file.read(
                at: offset(ofFrame: position.frame, header), size * Self.framesPerRead)
            guard bytes.count >= size else { return }
            for index in 0..<bytes.count / size {
                let frame = Array(bytes[index * size..<(index + 1) * size])
                guard let frame = Self.frame(frame, after: position, header) else { return }
                position = frame.position
                guard try body(frame) else { return }
            }
        }
    }

    /// The page in a frame, whose number counts from 1.
    func page(ofFrame number: Int, _ header: Header) throws(LarderError) -> [UInt8] {
        try file.read(
            at: offset(ofFrame: number - 1, header) + Int64(Self.frameHeaderBytes),
            header.pageBytes)
    }

    private func offset(ofFrame index: Int, _ header: Header) -> Int64 {
        Int64(Self.headerBytes) + Int64(index) * Int64(Self.frameHeaderBytes + header.pageBytes)
    }

    /// - Returns: nil if it is not the valid frame after this position.
    private static func frame(
        _ bytes: [UInt8], after position: LogPosition, _ header: Header
    ) -> Frame? {
        var reader = WordReader(bytes)
        let (page, databasePages) = reader.halves()
        guard reader.word() == header.salts, page >= 1 else { return nil }
        let stored = reader.word()
        var checksum = Self.checksum(
            of: bytes, 0..<8, from: position.checksum, isBigEndian: header.isBigEndian)
        checksum = Self.checksum(
            of: bytes, frameHeaderBytes..<bytes.count, from: checksum,
            isBigEndian: header.isBigEndian)
        guard checksum == stored else { return nil }
        return Frame(
            page: page, databasePages: databasePages,
            bytes: Array(bytes[frameHeaderBytes...]),
            position: LogPosition(
                salts: header.salts, frame: position.frame + 1, checksum: checksum))
    }

    /// SQLite's checksum of 8-byte units, as two numbers in one word.
    private static func checksum(
        of bytes: [UInt8], _ range: Range<Int>, from start: UInt64, isBigEndian: Bool
    ) -> UInt64 {
        var first = UInt32(start >> 32)
        var second = UInt32(truncatingIfNeeded: start)
        bytes.withUnsafeBytes { buffer in
            for offset in stride(from: range.lowerBound, to: range.upperBound, by: 8) {
                let left = buffer.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
                let right = buffer.loadUnaligned(fromByteOffset: offset + 4, as: UInt32.self)
                first &+= (isBigEndian ? left.bigEndian : left.littleEndian) &+ second
                second &+= (isBigEndian ? right.bigEndian : right.littleEndian) &+ first
            }
        }
        return UInt64(first) << 32 | UInt64(second)
    }
}
