import FoundationEssentials
import LarderModel

/// Reads a base and the segments after it in their order, and verifies that they belong together:
/// files of one store and one generation, without a gap and undamaged.
struct ArchiveChain {
    private let folder: ArchiveFolder
    private let first: ArchiveHeader
    /// The identity of the last file that was read.
    private(set) var identity: UInt64
    private(set) var sequence: Int64
    /// Where the last segment that was read ends in the log.
    private(set) var position = LogPosition.start
    /// The last commit that was read.
    private(set) var end: ArchiveMoment

    /// Begins with a base, whose records are read next.
    ///
    /// - Throws: `storageFailed` if it cannot be read or is not the base that its name says.
    init(_ folder: ArchiveFolder, base entry: ArchiveFolder.Entry) throws(LarderError) {
        let path = folder.path(of: entry)
        let header = try ArchiveFileReader(path).header
        guard header.kind == .base, header.generation == entry.generation,
            header.sequence == entry.sequence, header.start.transaction == entry.last
        else { throw ArchiveFileReader.damaged(path, "it is another file than its name says") }
        self.folder = folder
        first = header
        identity = header.previous
        sequence = header.sequence
        end = header.start
    }

    /// Begins after the state that a base with this header has.
    init(_ folder: ArchiveFolder, after header: ArchiveHeader) {
        self.folder = folder
        first = header
        identity = header.previous
        sequence = header.sequence
        end = header.start
    }

    var header: ArchiveHeader { first }

    /// Sets where the base ends in the log.
    mutating func begin(at position: LogPosition) { self.position = position }

    /// Reads every record of the base.
    func readBase(
        _ entry: ArchiveFolder.Entry,
        _ body: (ArchiveFileReader.Record) throws(LarderError) -> Bool
    ) throws(LarderError) {
        var reader = try ArchiveFileReader(folder.path(of: entry))
        while let record = try reader.next() {
            if case .commit(let moment, _) = record, moment != first.start {
                throw ArchiveFileReader.damaged(
                    folder.path(of: entry), "its commit is not the one of its header")
            }
            guard try body(record) else { return }
        }
    }

    /// Reads the next segment to its end, or until the function returns false.
    ///
    /// - Throws: `storageFailed` if the segment does not follow the last one, or is damaged.
    mutating func readNext(
        _ entry: ArchiveFolder.Entry,
        _ body: (ArchiveFileReader.Record) throws(LarderError) -> Bool
    ) throws(LarderError) {
        let path = folder.path(of: entry)
        guard entry.sequence == sequence + 1 else {
            throw LarderError(
                .storageFailed,
                "segment \(sequence + 1) of generation \(first.generation) is missing in "
                    + "\(folder.path), before \(entry.name)",
                hint: "put the file back; without it, the store can be restored up to "
                    + "transaction \(end.transaction)")
        }
        var reader = try ArchiveFileReader(path)
        let header = reader.header
        guard header.store == first.store, header.epoch == first.epoch else {
            throw LarderError(
                .storageFailed, "\(path) is a segment of another store",
                hint: "remove it, and put the right file back")
        }
        guard header.kind == .segment, header.generation == first.generation,
            header.generationIdentity == first.generationIdentity,
            header.sequence == entry.sequence, header.pageBytes == first.pageBytes,
            header.previous == identity, header.start == end
        else {
            throw LarderError(
                .storageFailed,
                "\(path) does not follow the segment before it (it is from another archive, or "
                    + "was renamed)",
                hint: "put the right file back; without it, the store can be restored up to "
                    + "transaction \(end.transaction)")
        }
        while let record = try reader.next() {
            guard try body(record) else { return }
        }
        guard let last = reader.end else { return }
        sequence = entry.sequence
        identity = last.identity
        end = last.trailer.end
        position = last.trailer.position
    }
}
