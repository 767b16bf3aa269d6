import FoundationEssentials
import LarderModel
import TestSupport
import Testing

@testable import LarderStore

@Suite("A file of an archive")
struct ArchiveFormatTests {
    private let folder: MemoryFolder
    private var path: String { folder.storePath }

    init() throws { folder = try MemoryFolder() }

    private static let header = ArchiveHeader(
        kind: .segment, store: UUID(), epoch: 5, generation: 2, generationIdentity: 77,
        sequence: 3, previous: 99, pageBytes: 512,
        start: ArchiveMoment(transaction: 10, time: 1.5))
    private static let end = ArchiveMoment(transaction: 12, time: 2.5)
    private static let position = LogPosition(salts: 1 << 40 | 7, frame: 9, checksum: 11)

    private static let records: [ArchiveFileReader.Record] = [
        .page(3, [UInt8](repeating: 1, count: 512)),
        .commit(ArchiveMoment(transaction: 11, time: 2), databasePages: 4),
        .page(4, [UInt8](repeating: 2, count: 512)),
        .page(3, [UInt8](repeating: 3, count: 512)),
        .commit(end, databasePages: 5),
    ]

    /// Writes the records and returns the bytes of the file.
    private func written() throws -> [UInt8] {
        var writer = try ArchiveFileWriter(Self.header, creating: path)
        for record in Self.records {
            switch record {
            case .page(let number, let bytes): try writer.append(page: number, bytes)
            case .commit(let moment, let pages):
                try writer.append(commit: moment, databasePages: pages)
            }
        }
        let (identity, byteCount) = try writer.finish(end: Self.end, Self.position)
        let bytes = try [UInt8](Data(contentsOf: URL(filePath: path)))
        #expect(byteCount == Int64(bytes.count))
        #expect(try ArchiveFileReader.unverifiedEnd(path)?.identity == identity)
        return bytes
    }

    private func read(_ bytes: [UInt8]) throws -> [ArchiveFileReader.Record] {
        try Data(bytes).write(to: URL(filePath: path))
        var reader = try ArchiveFileReader(path)
        var records: [ArchiveFileReader.Record] = []
        while let record = try reader.next() { records.append(record) }
        return records
    }

    @Test("an archive file contains the records that were written")
    func roundTrip() throws {
        let bytes = try written()
        #expect(try read(bytes) == Self.records)
        var reader = try ArchiveFileReader(path)
        while try reader.next() != nil {}
        #expect(reader.header == Self.header)
        #expect(
            reader.end?.trailer
                == ArchiveTrailer(commitCount: 2, end: Self.end, position: Self.position))
    }

    @Test("an archive file with any changed byte is rejected")
    func flippedBytes() throws {
        let bytes = try written()
        for offset in bytes.indices {
            var changed = bytes
            changed[offset] ^= 1 << UInt8(offset % 8)
            let error = #expect(throws: LarderError.self, "byte \(offset)") { try read(changed) }
            #expect(error?.message.contains(path) == true)
        }
    }

    @Test("an archive file that is cut anywhere, or continues after its end, is rejected")
    func truncation() throws {
        let bytes = try written()
        for count in stride(from: 0, to: bytes.count, by: 3) {
            #expect(throws: LarderError.self, "\(count)") { try read(Array(bytes[..<count])) }
        }
        #expect(throws: LarderError.self) { try read(bytes + [0]) }
        #expect(throws: LarderError.self) { try read(bytes + bytes) }
    }

    @Test("an archive file of a later format is an error that asks for a newer program")
    func laterFormat() throws {
        var bytes = try written()
        bytes[11] = 2
        let error = #expect(throws: LarderError.self) { try read(bytes) }
        #expect(error?.code == .storeTooNew)
    }

    @Test("an archive file with random changes is rejected with typed errors only")
    func randomBytes() throws {
        var generator = SeededGenerator.fromEnvironment("archive files")
        let bytes = try written()
        for _ in 0..<RandomTesting.iterations(300) {
            let changed = Fuzzing.mutated(bytes, donor: bytes, using: &generator)
            do {
                let records = try read(changed)
                #expect(changed == bytes && records == Self.records)
            } catch is LarderError {}
        }
    }

    @Test(
        "an archive header whose numbers have no successor is rejected, also with right checksums")
    func extremeNumbers() throws {
        let changes: [(inout ArchiveHeader) -> Void] = [
            { $0.sequence = .max }, { $0.generation = .max }, { $0.generation = -1 },
            { $0.start.transaction = .max }, { $0.start.transaction = -1 },
            { $0.start.time = .nan },
        ]
        for change in changes {
            var header = Self.header
            change(&header)
            var writer = try ArchiveFileWriter(header, creating: path)
            _ = try writer.finish(end: Self.end, Self.position)
            #expect(throws: LarderError.self) { try ArchiveFileReader(path) }
        }
        for moment in [
            ArchiveMoment(transaction: .max, time: 3), ArchiveMoment(transaction: 13, time: .nan),
        ] {
            var writer = try ArchiveFileWriter(Self.header, creating: path)
            try writer.append(commit: moment, databasePages: 4)
            _ = try writer.finish(end: moment, Self.position)
            var reader = try ArchiveFileReader(path)
            #expect(throws: LarderError.self) { try reader.next() }
            #expect(try ArchiveFileReader.unverifiedEnd(path) == nil)
        }
        var writer = try ArchiveFileWriter(Self.header, creating: path)
        try writer.append(page: .max, [UInt8](repeating: 1, count: 512))
        try writer.append(commit: Self.end, databasePages: .max)
        _ = try writer.finish(end: Self.end, Self.position)
        var reader = try ArchiveFileReader(path)
        #expect(throws: LarderError.self) { try reader.next() }
    }

    @Test("a page number 0 on the way to the newest transaction is damage", arguments: [0, 1])
    func tail(root: UInt32) {
        let tail = HistoryTail(rootPage: root, pageBytes: 512)
        #expect(throws: LarderError.self) {
            try tail.moment { _ throws(LarderError) in [UInt8](repeating: 0, count: 512) }
        }
        // An inner page whose last child is page 0.
        let inner = HistoryTail(rootPage: 2, pageBytes: 512)
        let page: [UInt8] = [5] + [UInt8](repeating: 0, count: 511)
        #expect(throws: LarderError.self) {
            try inner.moment { number throws(LarderError) in
                #expect(number == 2)
                return page
            }
        }
    }

    @Test("the name of an archive file says what it contains")
    func names() {
        let segment = ArchiveFolder.Entry(
            kind: .segment, generation: 1, sequence: 7, first: 51, last: 60)
        #expect(segment.name == "larder-000001-0000000007-51-60.segment")
        #expect(ArchiveFolder.entry(segment.name) == segment)
        let base = ArchiveFolder.Entry(kind: .base, generation: 1, sequence: 7, first: 60, last: 60)
        #expect(base.name == "larder-000001-0000000007-60.base")
        #expect(ArchiveFolder.entry(base.name) == base)
        #expect(segment < base)
        for name in [
            "", "x", "larder-1-7-60.base", "larder-000001-0000000007-60.base.tmp",
            "larder-000001-0000000007-+60.base", "larder-000001-0000000007--60.base",
            "unfinished.segment", "larder-99999999999999999999-0000000007-60.base",
            "larder-000001-9223372036854775807-60.base",
            "larder-9223372036854775807-0000000007-60.base",
        ] { #expect(ArchiveFolder.entry(name) == nil, "\(name)") }
    }
}
