import LarderModel

/// Writes a segment from its beginning to its end. Its name says that it is not finished until
/// ``finish(_:syncing:)`` has renamed it.
struct ArchiveFileWriter {
    private static let bufferBytes = 256 << 10

    private let file: RawFile
    private var offset: Int64 = 0
    private var buffer: [UInt8] = []
    private var checksum = ArchiveChecksum()
    private(set) var commitCount: Int64 = 0

    init(_ header: ArchiveHeader, creating path: String) throws(LarderError) {
        file = try RawFile(creating: path)
        try append(header.bytes)
    }

    mutating func append(page number: UInt32, _ bytes: [UInt8]) throws(LarderError) {
        try append(ArchiveRecord.pageHead(number))
        try append(bytes)
    }

    mutating func append(
        commit moment: ArchiveMoment, databasePages: UInt32
    ) throws(LarderError) {
        try append(ArchiveRecord.commit(moment, databasePages: databasePages))
        commitCount += 1
    }

    private mutating func append(_ bytes: [UInt8]) throws(LarderError) {
        checksum.add(bytes)
        buffer += bytes
        if buffer.count >= Self.bufferBytes { try flush() }
    }

    private mutating func flush() throws(LarderError) {
        try file.write(buffer, at: offset)
        offset += Int64(buffer.count)
        buffer.removeAll(keepingCapacity: true)
    }

    /// Writes the end and syncs the file.
    ///
    /// - Returns: the identity of the file, which is its checksum, and its length.
    mutating func finish(
        end: ArchiveMoment, _ position: LogPosition
    ) throws(LarderError) -> (identity: UInt64, byteCount: Int64) {
        try append(
            ArchiveTrailer(commitCount: commitCount, end: end, position: position).bytes)
        var writer = WordWriter()
        writer.append(checksum.value)
        buffer += writer.bytes
        try flush()
        try file.sync()
        return (checksum.value, offset)
    }
}
