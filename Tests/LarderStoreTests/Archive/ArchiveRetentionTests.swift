import FoundationEssentials
import Glibc
import LarderModel
import Synchronization
import Testing

@testable import LarderStore

@Suite("The retention of an archive")
struct ArchiveRetentionTests {
    /// `b0` is a base after segment 0 at the time 0; `s1` is segment 1. Each has 10 bytes.
    private func files(_ text: String) -> [ArchiveRetention.File] {
        text.split(separator: " ").map { word in
            let number = Int64(word.dropFirst()) ?? 0
            let kind: ArchiveHeader.Kind = word.first == "b" ? .base : .segment
            return ArchiveRetention.File(
                entry: ArchiveFolder.Entry(
                    kind: kind, generation: 1, sequence: number, first: number, last: number),
                byteCount: 10, time: kind == .base ? Double(number) : nil)
        }
    }

    private func deleted(
        _ text: String, ageMax: Double? = nil, bytesMax: Int64? = nil, now: Double = 100,
        needed: Int64 = -1
    ) -> [Int64] {
        ArchiveRetention(ageMax: ageMax, bytesMax: bytesMax).deletions(
            files(text), at: now, isNeeded: { $0.sequence == needed }
        ).map(\.sequence)
    }

    @Test("the retention of an archive deletes only unusable segments if it has no limit")
    func unlimited() {
        #expect(deleted("b0 s1 s2 b2 s3") == [])
        #expect(deleted("s1 s2 b2 s3") == [1, 2])
        #expect(deleted("s1 s2") == [])
    }

    @Test("the retention of an archive deletes a base when the next base is old enough")
    func age() {
        #expect(deleted("b0 s1 s2 b2 s3 s9 b9", ageMax: 95) == [0, 1, 2])
        #expect(deleted("b0 s1 s2 b2 s3 s9 b9", ageMax: 98) == [0, 1, 2])
        #expect(deleted("b0 s1 s2 b2 s3 s9 b9", ageMax: 98.5) == [])
        #expect(deleted("b0 s1 s2 b2 s3 s9 b9", ageMax: 1) == [0, 1, 2, 2, 3, 9])
    }

    @Test("the retention of an archive deletes the oldest files, but keeps the last base")
    func bytes() {
        #expect(deleted("b0 s1 s2 b2 s3 b3", bytesMax: 60) == [])
        #expect(deleted("b0 s1 s2 b2 s3 b3", bytesMax: 59) == [0, 1, 2])
        #expect(deleted("b0 s1 s2 b2 s3 b3", bytesMax: 1) == [0, 1, 2, 2, 3])
    }

    @Test("the retention of an archive keeps files that are still needed, and later ones")
    func needed() {
        #expect(deleted("b0 s1 s2 b2 s3 b3", bytesMax: 1, needed: 2) == [0, 1])
    }

    @Test("an archive needs a base when its segments are as large as the last one, or half too old")
    func bases() {
        var retention = ArchiveRetention(ageMax: nil, bytesMax: nil, baseBytesMin: 15)
        #expect(!retention.needsBase(files("b0 s1"), at: 100))
        #expect(retention.needsBase(files("b0 s1 s2"), at: 100))
        #expect(!retention.needsBase(files("s1 s2"), at: 100))
        retention = ArchiveRetention(ageMax: 200, bytesMax: nil, baseBytesMin: 15)
        #expect(retention.needsBase(files("b0 s1"), at: 100))
        #expect(!retention.needsBase(files("b0 s1"), at: 99))
        #expect(!retention.needsBase(files("b0"), at: 1_000))
    }

    @Test("an archive replaces bases while the store is used, and has every state after the first")
    func newBases() throws {
        let library = try ArchivedLibrary()
        library.limits.pagesBetweenCheckpoints = 40
        library.options.bytesMax = 1 << 20
        library.options.baseBytesMin = 200_000
        try library.open()
        var last: Int64 = 0
        for index in 0..<60 {
            let name = String(repeating: "x", count: 30_000) + "\(index)"
            last = try library.save([
                ChangeSet([.insert(.new("c", "Category"), values: ["name": .string(name)])])
            ])
            if index == 0 { try library.archiveAll() }
            if index % 5 == 0 { #expect(try #require(library.store?.archive).finish()) }
        }
        let archive = try #require(library.store?.archive)
        #expect(archive.finish())
        func bases() throws -> [ArchiveFolder.Entry] {
            try library.archiveFolder.entries().filter { $0.kind == .base }
        }
        try library.wait { try bases().first?.sequence != 0 }
        // Until then another base may replace the first one.
        library.close()
        let first = try #require(try bases().first)
        #expect(first.sequence > 0)
        #expect(try ArchiveContents.check(library.options.folder) == [])
        for transaction in [first.last, last] {
            let contents = try library.restored(.transaction(transaction)).contents
            #expect(contents == library.states[transaction])
        }
        #expect(try library.refusal(.transaction(first.last - 1)).code == .objectNotFound)
    }

    @Test("an archive passes each file to its command, in order, until the command succeeds")
    func command() throws {
        let library = try ArchivedLibrary()
        let copies = library.folder + "/copies of 'it'"
        // It fails the first time.
        library.options.command =
            "test -d \"\(copies)\" || { mkdir \"\(copies)\"; exit 3; }; cp \"$1\" \"\(copies)/$2\""
        try library.open()
        try library.save([
            ChangeSet([.insert(.new("c", "Category"), values: ["name": .string("a")])])
        ])
        try library.archiveAll()
        let names = try library.archiveFolder.entries().map(\.name)
        func shipped() -> [String] {
            ((try? FileManager.default.contentsOfDirectory(atPath: copies)) ?? []).sorted()
        }
        try library.wait { shipped() == names.sorted() }
        #expect(library.events.contains("it ended with status 3"))
        library.close()
    }

    @Test("an archive ends a command that takes too long")
    func lateCommand() {
        let command = ShippingCommand(text: "sleep 1000 & sleep 1000", secondsMax: 1)
        #expect(command.run(path: "/a b", name: "c")?.contains("longer than 1 seconds") == true)
        let check = ShippingCommand(text: "test \"$1\" = \"/a b\" && test \"$2\" = '$(c)'")
        #expect(check.run(path: "/a b", name: "$(c)") == nil)
    }
}
