import LarderModel
import LarderSQL

/// Makes a base: a copy of the whole store after a segment.
///
/// The first base of a generation is copied from the database file while the writer checkpoints
/// pages into it. So the copy has pages of different moments, and pages that were copied while they
/// were written. All these pages are in segments of the generation, because the writer checkpoints
/// only what is in a segment. When these segments have been applied to the copy in their order, it
/// is the store after the last of them. A later base is made from the base before it, and needs
/// nothing of the store.
///
/// It works in short steps, so that segments are made in between.
struct BaseCopy {
    enum Source {
        case database(Connection, Archive.Generation)
        case base(ArchiveFolder.Entry)
    }

    private enum Phase {
        case copying
        case applying
        /// Computing the checksum.
        case finishing(ArchiveChecksum)
    }

    private static let pagesPerStep: UInt32 = 512
    private static let pagesPerSync: UInt32 = 16_384

    private let folder: ArchiveFolder
    private let source: Source
    private let file: RawFile
    private var reader: ArchiveFileReader?
    private var chain: ArchiveChain
    private var phase = Phase.copying
    private var nextPage: UInt32 = 1
    private var pageCount: UInt32
    private let pageBytes: Int
    private var header: ArchiveHeader

    /// - Parameter header: The state of the source: its sequence, its identity and its moment.
    init(
        of source: Source, _ header: ArchiveHeader, in folder: ArchiveFolder
    ) throws(LarderError) {
        self.folder = folder
        self.source = source
        switch source {
        case .database(_, let generation):
            pageCount = generation.pageCount
            chain = ArchiveChain(folder, after: header)
            chain.begin(at: generation.position)
        case .base(let entry):
            pageCount = 0
            chain = try ArchiveChain(folder, base: entry)
            reader = try ArchiveFileReader(folder.path(of: entry))
        }
        self.header = chain.header
        self.header.kind = .base
        pageBytes = header.pageBytes
        file = try RawFile(creating: folder.path(of: ArchiveFolder.unfinishedBase))
    }

    private var recordBytes: Int { ArchiveRecord.headBytes + pageBytes }

    private func offset(ofPage number: UInt32) -> Int64 {
        Int64(ArchiveHeader.byteCount) + Int64(number - 1) * Int64(recordBytes)
    }

    /// Does a part of the work.
    ///
    /// - Parameter segments: The finished segments of the generation.
    /// - Returns: the base when it is finished.
    mutating func step(
        _ segments: [ArchiveFolder.Entry]
    ) throws(LarderError) -> ArchiveFolder.Entry? {
        switch phase {
        case .copying:
            if try copy() { phase = .applying }
            return nil
        case .applying:
            let done = chain.sequence
            guard let next = segments.first(where: { $0.sequence > done }) else {
                try beginFinishing()
                return nil
            }
            try apply(next)
            return nil
        case .finishing(let checksum): return try finish(checksum)
        }
    }

    /// - Returns: whether all pages have been copied.
    private mutating func copy() throws(LarderError) -> Bool {
        switch source {
        case .database(let database, _):
            let done = nextPage - 1
            let end = done + min(Self.pagesPerStep, pageCount - min(pageCount, done))
            var bytes: [UInt8] = []
            let start = nextPage
            while nextPage <= end {
                bytes += ArchiveRecord.pageHead(nextPage)
                do throws(SQLError) {
                    bytes += try database.readFile(
                        at: Int64(nextPage - 1) * Int64(pageBytes), pageBytes)
                } catch {
                    throw error.larderError
                }
                nextPage += 1
            }
            try file.write(bytes, at: offset(ofPage: start))
            try syncSometimes()
            return nextPage > pageCount
        case .base:
            for _ in 0..<Self.pagesPerStep {
                switch try reader?.next() {
                case .page(let number, let bytes): try write(number, bytes)
                case .commit(_, let count): pageCount = count
                case nil:
                    chain.begin(at: reader?.end?.trailer.position ?? .start)
                    reader = nil
                    return true
                }
            }
            try syncSometimes()
            return false
        }
    }

    /// A sync of a large file at its end would take long.
    private mutating func syncSometimes() throws(LarderError) {
        if nextPage % Self.pagesPerSync < Self.pagesPerStep { try file.sync() }
    }

    private mutating func write(_ number: UInt32, _ bytes: [UInt8]) throws(LarderError) {
        try file.write(ArchiveRecord.pageHead(number) + bytes, at: offset(ofPage: number))
        nextPage = number
    }

    private mutating func apply(_ segment: ArchiveFolder.Entry) throws(LarderError) {
        var count = pageCount
        let (file, recordBytes) = (file, recordBytes)
        try chain.readNext(segment) { (record) throws(LarderError) in
            switch record {
            case .page(let number, let bytes):
                try file.write(
                    ArchiveRecord.pageHead(number) + bytes,
                    at: Int64(ArchiveHeader.byteCount) + Int64(number - 1) * Int64(recordBytes))
            case .commit(_, let databasePages): count = databasePages
            }
            return true
        }
        pageCount = count
    }

    private mutating func beginFinishing() throws(LarderError) {
        header.sequence = chain.sequence
        header.previous = chain.identity
        header.start = chain.end
        let bytes = header.bytes
        try file.write(bytes, at: 0)
        var checksum = ArchiveChecksum()
        checksum.add(bytes)
        nextPage = 1
        phase = .finishing(checksum)
    }

    /// Computes the checksum of some pages, or ends the file after the last one.
    private mutating func finish(
        _ before: ArchiveChecksum
    ) throws(LarderError) -> ArchiveFolder.Entry? {
        var checksum = before
        let count = min(Self.pagesPerStep, pageCount - min(pageCount, nextPage - 1))
        var bytes = try file.read(at: offset(ofPage: nextPage), Int(count) * recordBytes)
        bytes += [UInt8](repeating: 0, count: Int(count) * recordBytes - bytes.count)
        for index in 0..<Int(count) {
            var record = Array(bytes[index * recordBytes..<(index + 1) * recordBytes])
            let head = ArchiveRecord.pageHead(nextPage)
            if !record.starts(with: head) {
                // SQLite never writes some pages: free ones, and the one with its locks.
                record.replaceSubrange(0..<head.count, with: head)
                try file.write(record, at: offset(ofPage: nextPage))
            }
            checksum.add(record)
            nextPage += 1
        }
        phase = .finishing(checksum)
        try syncSometimes()
        guard nextPage > pageCount else { return nil }
        var end = ArchiveRecord.commit(chain.end, databasePages: pageCount)
        end +=
            ArchiveTrailer(commitCount: 1, end: chain.end, position: chain.position).bytes
        checksum.add(end)
        var last = WordWriter()
        last.append(checksum.value)
        let length = offset(ofPage: pageCount + 1)
        try file.write(end + last.bytes, at: length)
        try file.truncate(to: length + Int64(end.count + last.bytes.count))
        try file.sync()
        let entry = ArchiveFolder.Entry(
            kind: .base, generation: header.generation, sequence: header.sequence,
            first: chain.end.transaction, last: chain.end.transaction)
        try folder.rename(ArchiveFolder.unfinishedBase, to: entry)
        return entry
    }
}
