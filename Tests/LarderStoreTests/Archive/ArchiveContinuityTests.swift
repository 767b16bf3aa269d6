import FoundationEssentials
import Glibc
import LarderModel
import TestSupport
import Testing

@testable import LarderStore

@Suite("An archive, when its store is opened again,")
struct ArchiveContinuityTests {
    private let library: ArchivedLibrary

    init() throws { library = try ArchivedLibrary() }

    private func category(_ name: String) -> ChangeSet {
        ChangeSet([.insert(.new("c", "Category"), values: ["name": .string(name)])])
    }

    private func generations() throws -> [ArchiveGeneration] {
        ArchiveGeneration.all(try library.archiveFolder.entries())
    }

    private func expectStates(_ transactions: Int64...) throws {
        for transaction in transactions {
            let contents = try library.restored(.transaction(transaction)).contents
            #expect(contents == library.states[transaction], "transaction \(transaction)")
        }
    }

    @Test("an archive continues after its store was closed")
    func closing() throws {
        try library.open()
        let first = try library.save([category("a")])
        try library.archiveAll()
        let second = try library.save([category("b")])
        library.close()
        try library.open()
        let third = try library.save([category("c")])
        library.close()
        #expect(try generations().map(\.number) == [1])
        try expectStates(first, second, third)
    }

    @Test("an archive continues after a crash with the contents of the log")
    func crash() throws {
        try library.open()
        let first = try library.save([category("a")])
        try library.archiveAll()
        let second = try library.save([category("b")])
        #expect(try #require(library.store?.archive).finish())
        let third = try library.save([category("c")])
        let fourth = try library.save([category("d"), category("e")])
        try library.crash()
        try library.open()
        let fifth = try library.save([category("f")])
        library.close()
        #expect(try generations().map(\.number) == [1])
        try expectStates(first, second, third, fourth, fifth)
    }

    @Test("an archive continues after a crash before its first segment")
    func crashBeforeSegments() throws {
        try library.open()
        try library.archiveAll()
        let first = try library.save([category("a")])
        let second = try library.save([category("b"), category("c")])
        try library.crash()
        try library.open()
        library.close()
        #expect(try generations().map(\.number) == [1])
        try expectStates(first, second)
    }

    @Test("an archive continues after a crash that followed a checkpoint")
    func crashAfterCheckpoint() throws {
        library.limits.pagesBetweenCheckpoints = 1
        library.limits.waitMax = .seconds(20)
        try library.open()
        let first = try library.save([category("a")])
        try library.archiveAll()
        var transactions: [Int64] = []
        for name in ["b", "c", "d"] { transactions.append(try library.save([category(name)])) }
        // This commit begins a new log, and is only there.
        library.limits.pagesBetweenCheckpoints = 1_000
        transactions.append(try library.save([category("e")]))
        try library.crash()
        try library.open()
        transactions.append(try library.save([category("f")]))
        library.close()
        #expect(try generations().map(\.number) == [1])
        try expectStates(first)
        for transaction in transactions { try expectStates(transaction) }
    }

    @Test("an archive begins a new generation after a commit without it")
    func commitWithoutArchive() throws {
        try library.open()
        let first = try library.save([category("a")])
        try library.archiveAll()
        library.close()
        try library.open(withArchive: false)
        try library.save([category("b")])
        let unarchived = try library.save([category("c")])
        library.close()
        try library.open()
        let last = try library.save([category("d")])
        try library.archiveAll()
        library.close()
        #expect(try generations().map(\.number) == [1, 2])
        #expect(library.events.contains("a new generation is necessary"))
        try expectStates(first, last)
        #expect(try library.refusal(.transaction(unarchived - 1)).code == .objectNotFound)
    }

    @Test("an archive begins a new generation after another program changed the store file")
    func otherProgram() throws {
        try library.open()
        try library.save([category("a")])
        try library.archiveAll()
        library.close()
        do {
            let connection = try Connection(path: library.path, createIfMissing: false)
            try connection.execute("INSERT INTO _larder VALUES ('other', 1)")
        }
        try library.open()
        let second = try library.save([category("b")])
        try library.archiveAll()
        library.close()
        #expect(try generations().map(\.number) == [1, 2])
        try expectStates(second)
    }

    @Test("an archive continues if the store was only read without it")
    func readWithoutArchive() throws {
        try library.open()
        try library.save([category("a")])
        try library.archiveAll()
        library.close()
        try library.open(withArchive: false)
        library.close()
        try library.open()
        let second = try library.save([category("b")])
        library.close()
        #expect(try generations().map(\.number) == [1])
        try expectStates(second)
    }

    @Test("the archive folder of another store, or in use by another process, is refused")
    func foreignFolder() throws {
        try library.open()
        try library.save([category("a")])
        try library.archiveAll()
        let other = try ArchivedLibrary()
        other.options.folder = library.options.folder
        #expect(throws: LarderError.self) { try other.open() }
        library.close()
        let error = #expect(throws: LarderError.self) { try other.open() }
        #expect(error?.code == .foreignIdentifier)
        other.options.folder = library.folder + "/missing"
        #expect(throws: LarderError.self) { try other.open() }
    }

    @Test("an archive whose folder fails loses no write, and continues when the folder works again")
    func failingFolder() throws {
        library.limits.retryInterval = .milliseconds(10)
        library.limits.pagesBetweenCheckpoints = 20
        library.limits.pagesUntilLongWait = 10_000
        try library.open()
        let first = try library.save([category("a")])
        try library.archiveAll()
        let away = library.options.folder + "-away"
        #expect(rename(library.options.folder, away) == 0)
        let archive = try #require(library.store?.archive)
        var transactions: [Int64] = []
        for index in 0..<40 {
            transactions.append(try library.save([category("\(index)")]))
            archive.wake()
        }
        #expect(!archive.finish())
        #expect(library.events.contains("changes are not archived"))
        let failing = archive.statistics(pageBytes: 4_096)
        #expect(failing.contains { $0.name == "archiveFailedSince" && $0.value != .null })
        #expect(rename(away, library.options.folder) == 0)
        try library.wait { library.events.contains("archived again") }
        #expect(archive.finish())
        #expect(try generations().map(\.number) == [1])
        try expectStates(first, transactions[0], transactions[20], transactions[39])
    }

    @Test("an archive whose folder fails for too long ends, and a new generation begins")
    func givingUp() throws {
        library.limits.retryInterval = .milliseconds(10)
        library.limits.pagesBetweenCheckpoints = 20
        library.limits.pagesMax = 100
        try library.open()
        let first = try library.save([category("a")])
        try library.archiveAll()
        let away = library.options.folder + "-away"
        #expect(rename(library.options.folder, away) == 0)
        let archive = try #require(library.store?.archive)
        archive.wake()
        var count = 0
        while !library.events.contains("the archive ends here"), count < 1_000 {
            try library.save([category("\(count)")])
            archive.wake()
            count += 1
        }
        #expect(count < 1_000)
        // The log is checkpointed without the archive.
        #expect(library.writer?.logByteCount ?? .max < 16 << 20)
        #expect(rename(away, library.options.folder) == 0)
        try library.wait { library.events.contains("archived again") }
        try library.save([category("x")])
        let last = try library.save([category("y")])
        try library.archiveAll()
        #expect(try generations().map(\.number) == [1, 2])
        try expectStates(first, last)
    }
}
