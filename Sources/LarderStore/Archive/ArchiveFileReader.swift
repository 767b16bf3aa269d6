import FoundationEssentials
import LarderModel

/// Reads a file of an archive record by record, and verifies it at its end.
///
/// Nothing in the file is trusted: a record is read only if the file has its bytes, and the memory
/// for it does not depend on the file except by the size of a page, which has a maximum.
struct ArchiveFileReader {
    enum Record: Equatable {
        case page(UInt32, [UInt8])
        case commit(ArchiveMoment, databasePages: UInt32)

        /// The bytes of the file that it takes.
        var byteCount: Int {
            switch self {
            case .page(_, let bytes): ArchiveRecord.headBytes + bytes.count
            case .commit: ArchiveRecord.commitBytes
            }
        }
    }

    private static let chunkBytes = 256 << 10

    let header: ArchiveHeader
    private let file: RawFile
    private let byteCount: Int64
    private var offset: Int64
    private var chunk: [UInt8] = []
    private var chunkOffset: Int64 = 0
    private var checksum = ArchiveChecksum()
    private var commitCount: Int64 = 0
    private var moment: ArchiveMoment
    private var isWithinCommit = false
    /// After the last record: the end of the file, and its identity.
    private(set) var end: (trailer: ArchiveTrailer, identity: UInt64)?

    /// Opens a file and checks its header.
    ///
    /// - Throws: `storageFailed` if it is damaged or cannot be read, `storeTooNew` for a later
    ///   format.
    init(_ path: String) throws(LarderError) {
        file = try RawFile(reading: path)
        byteCount = try file.byteCount
        let bytes = try file.read(at: 0, ArchiveHeader.byteCount)
        header = try Self.header(bytes, path)
        checksum.add(bytes)
        moment = header.start
        offset = Int64(bytes.count)
        chunkOffset = offset
    }

    private static func header(
        _ bytes: [UInt8], _ path: String
    ) throws(LarderError) -> ArchiveHeader {
        guard bytes.count == ArchiveHeader.byteCount else {
            throw damaged(path, "it is shorter than its header")
        }
        var reader = WordReader(bytes)
        guard reader.word() == ArchiveHeader.magic else {
            throw damaged(path, "it does not begin as a file of an archive")
        }
        let (format, kindNumber) = reader.halves()
        guard format == ArchiveHeader.formatVersion else {
            // A later format may have another header.
            guard format > ArchiveHeader.formatVersion else {
                throw damaged(path, "it has format \(format)")
            }
            throw LarderError(
                .storeTooNew,
                "\(path) has format \(format), and this program reads format "
                    + "\(ArchiveHeader.formatVersion)",
                hint: "use a newer larder")
        }
        var checksum = ArchiveChecksum()
        checksum.add(Array(bytes.dropLast(8)))
        let store = reader.uuid()
        let epoch = Int64(bitPattern: reader.word())
        let generation = Int64(bitPattern: reader.word())
        let generationIdentity = reader.word()
        let sequence = Int64(bitPattern: reader.word())
        let previous = reader.word()
        let pageBytes = Int(reader.halves().0)
        let start = reader.moment()
        guard reader.word() == checksum.value, let kind = ArchiveHeader.Kind(rawValue: kindNumber),
            ArchiveRecord.pageBytesAllowed.contains(pageBytes), pageBytes & (pageBytes - 1) == 0,
            generation >= 1, ArchiveRecord.numbersAllowed.contains(generation),
            sequence >= (kind == .base ? 0 : 1), ArchiveRecord.numbersAllowed.contains(sequence),
            start.isValid
        else { throw damaged(path, "its header is not the one that was written") }
        return ArchiveHeader(
            kind: kind, store: store, epoch: epoch, generation: generation,
            generationIdentity: generationIdentity, sequence: sequence, previous: previous,
            pageBytes: pageBytes, start: start)
    }

    /// The next record; nil after the last, when the file has been verified.
    mutating func next() throws(LarderError) -> Record? {
        guard end == nil else { return nil }
        let head = try take(ArchiveRecord.headBytes)
        var reader = WordReader(head)
        let (kind, number) = reader.halves()
        switch kind {
        case ArchiveRecord.pageKind:
            guard ArchiveRecord.pagesAllowed.contains(number) else {
                throw damaged("a page has the number \(number)")
            }
            isWithinCommit = true
            return .page(number, try take(header.pageBytes))
        case ArchiveRecord.commitKind:
            var reader = WordReader(try take(ArchiveRecord.commitBytes - ArchiveRecord.headBytes))
            let moment = reader.moment()
            guard ArchiveRecord.pagesAllowed.contains(number), moment.isValid,
                moment.transaction >= self.moment.transaction
            else { throw damaged("a commit is not the one that was written") }
            commitCount += 1
            self.moment = moment
            isWithinCommit = false
            return .commit(moment, databasePages: number)
        case ArchiveRecord.endKind:
            try readEnd()
            return nil
        default: throw damaged("a record has the kind \(kind)")
        }
    }

    private mutating func readEnd() throws(LarderError) {
        var reader = WordReader(
            try take(ArchiveTrailer.byteCount - ArchiveRecord.headBytes - 8))
        let count = Int64(bitPattern: reader.word())
        let moment = reader.moment()
        let position = LogPosition(
            salts: reader.word(), frame: Int(reader.halves().0), checksum: reader.word())
        let identity = checksum.value
        var last = WordReader(try take(8))
        guard last.word() == identity else {
            throw damaged("its checksum differs from its content")
        }
        guard offset == byteCount, !isWithinCommit, count == commitCount, moment == self.moment
        else { throw damaged("its end does not match its records") }
        end = (
            ArchiveTrailer(commitCount: count, end: moment, position: position), identity
        )
    }

    private mutating func take(_ count: Int) throws(LarderError) -> [UInt8] {
        guard Int64(count) <= byteCount - offset else {
            throw damaged("it ends too early, at byte \(byteCount)")
        }
        if offset + Int64(count) > chunkOffset + Int64(chunk.count) {
            chunk = try file.read(at: offset, max(count, Self.chunkBytes))
            chunkOffset = offset
            // The file has become shorter while it is read.
            guard chunk.count >= count else { throw damaged("it ends too early") }
        }
        let start = Int(offset - chunkOffset)
        let bytes = Array(chunk[start..<start + count])
        checksum.add(bytes)
        offset += Int64(count)
        return bytes
    }

    /// The end of a file whose records are not read or verified.
    ///
    /// - Returns: nil if the file is too short to have one, or has something else there.
    static func unverifiedEnd(
        _ path: String
    ) throws(LarderError) -> (trailer: ArchiveTrailer, identity: UInt64, byteCount: Int64)? {
        let file = try RawFile(reading: path)
        let byteCount = try file.byteCount
        let start = byteCount - Int64(ArchiveTrailer.byteCount)
        guard start >= Int64(ArchiveHeader.byteCount) else { return nil }
        let bytes = try file.read(at: start, ArchiveTrailer.byteCount)
        guard bytes.count == ArchiveTrailer.byteCount else { return nil }
        var reader = WordReader(bytes)
        guard reader.halves().0 == ArchiveRecord.endKind else { return nil }
        let trailer = ArchiveTrailer(
            commitCount: Int64(bitPattern: reader.word()), end: reader.moment(),
            position: LogPosition(
                salts: reader.word(), frame: Int(reader.halves().0), checksum: reader.word()))
        guard trailer.end.isValid else { return nil }
        return (trailer, reader.word(), byteCount)
    }

    private func damaged(_ reason: String) -> LarderError { Self.damaged(file.path, reason) }

    static func damaged(_ path: String, _ reason: String) -> LarderError {
        LarderError(
            .storageFailed, "\(path) is damaged (\(reason))",
            hint: "replace it by another copy of the same file, or restore an earlier state; "
                + "`larder archive check` finds all damaged files")
    }
}
