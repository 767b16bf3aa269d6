import Glibc
import LarderModel
import LarderQuery
import TestSupport
import Testing

@testable import LarderStore

@Suite("Restoring a backup")
struct RestoringTests {
    private let fixture: CopyFixture

    init() throws { fixture = try CopyFixture(rowCount: 500) }

    private func code(_ backup: String, to name: String = "restored") -> ErrorCode? {
        do throws(LarderError) {
            _ = try Store.restore(backup, to: fixture.path(name))
            return nil
        } catch {
            return error.code
        }
    }

    @Test("restoring a backup creates a store with the same objects, history and identifier")
    func restore() throws {
        let backup = try fixture.backup()
        let bytes = try CopyFixture.bytes(of: backup)
        let restored = try Store.restore(backup, to: fixture.path("restored"))
        #expect(fixture.files.filter { !$0.hasPrefix("store") } == ["backup", "restored"])
        #expect(try CopyFixture.bytes(of: backup) == bytes)
        let original = fixture.library.store.storeDescription
        #expect(restored.description.identifier == original.identifier)
        #expect(restored.description.historyEpoch > original.historyEpoch)
        #expect(
            restored.description.earlierEpochs
                == [EarlierEpoch(epoch: original.historyEpoch, last: 1)])
        let library = try Library(path: fixture.path("restored"))
        #expect(library.store.storeDescription == restored.description)
        #expect(try library.contents() == fixture.library.contents())
    }

    @Test("restoring the backup of a restored store keeps the earlier epochs")
    func chain() throws {
        _ = try Store.restore(try fixture.backup(), to: fixture.path("first"))
        let first = try Library(path: fixture.path("first"))
        try first.insert("Category", ["name": "later"])
        let copy = try first.writer.makeCopy(in: fixture.folder.path).get()
        try fixture.complete(copy)
        _ = try copy.verify(budget: ReadBudget())
        try fixture.write(copy, to: fixture.path("second.backup"))
        let second = try Store.restore(
            fixture.path("second.backup"), to: fixture.path("second")
        ).description
        let original = fixture.library.store.storeDescription
        #expect(
            second.earlierEpochs
                == [
                    EarlierEpoch(epoch: original.historyEpoch, last: 1),
                    EarlierEpoch(epoch: first.store.storeDescription.historyEpoch, last: 2),
                ])
    }

    @Test("a restored store accepts tokens of the backup, and no later ones of the original")
    func tokens() throws {
        let backup = try fixture.backup()
        try fixture.save([fixture.insert("after the backup")])
        let original = fixture.library.store.storeDescription
        _ = try Store.restore(backup, to: fixture.path("restored"))
        let restored = try Library(path: fixture.path("restored"))
        try restored.insert("Category", ["name": "another second transaction"])
        let reader = try Reader(restored.store)
        let selection = try HistorySelection(
            HistoryFilter(), in: restored.store.storeDescription.schema)
        func numbers(after number: Int64) -> Result<[Int64], LarderError> {
            let token = HistoryToken(
                store: original.identifier, epoch: original.historyEpoch, number: number)
            do throws(ReadFailure) {
                let page = try reader.history(
                    HistoryPageRequest(after: token, selection, bytesMax: 1 << 20),
                    budget: ReadBudget())
                return .success(page.transactions.map(\.token.number))
            } catch {
                return .failure(error.larderError)
            }
        }
        #expect(try numbers(after: 0).get() == [1, 2])
        #expect(try numbers(after: 1).get() == [2])
        let error = #expect(throws: LarderError.self) { try numbers(after: 2).get() }
        #expect(error?.code == .tokenExpired)
        #expect(error?.message.contains("restored") == true)
    }

    @Test("restoring a backup can assign a new identifier")
    func newIdentity() throws {
        let backup = try fixture.backup()
        let restored = try Store.restore(
            backup, to: fixture.path("restored"), assignsNewIdentifier: true)
        let original = fixture.library.store.storeDescription.identifier
        #expect(restored.description.identifier != original)
        let library = try Library(path: fixture.path("restored"))
        #expect(library.store.storeDescription.identifier == restored.description.identifier)
        #expect(library.store.warning == nil)
    }

    @Test("a restored store with the same identifier is reported as a copy of the original")
    func warning() throws {
        _ = try Store.restore(try fixture.backup(), to: fixture.path("restored"))
        let store = try Store.open(path: fixture.path("restored"), schema: nil)
        #expect(store.warning?.contains("is a copy of") == true)
    }

    @Test("restoring a backup never replaces a file, a link, or the log of another store")
    func existing() throws {
        let backup = try fixture.backup()
        try CopyFixture.write([1, 2, 3], to: fixture.path("file"))
        try #require(symlink("missing", fixture.path("link")) == 0)
        try CopyFixture.write([1], to: fixture.path("a-wal"))
        try CopyFixture.write([1], to: fixture.path("b-journal"))
        let before = fixture.files
        for name in ["file", "link", "a", "b", "."] {
            #expect(code(backup, to: name) == .fileExists, "\(name)")
        }
        #expect(code(backup, to: "missing/store") == .storageFailed)
        #expect(fixture.files == before)
        #expect(try CopyFixture.bytes(of: fixture.path("file")) == [1, 2, 3])
    }

    @Test("restoring a file that is not a backup is refused")
    func foreign() throws {
        let backup = try fixture.backup()
        var newer = try CopyFixture.bytes(of: backup)
        newer[63] = 99
        var other = newer
        other[68] = 0
        let files: [(name: String, bytes: [UInt8], code: ErrorCode)] = [
            ("empty", [], .notAStore), ("short", Array("SQLite format 3".utf8), .notAStore),
            ("noise", [UInt8](repeating: 7, count: 5_000), .notAStore),
            ("newer", newer, .storeTooNew), ("other", other, .notAStore),
        ]
        for file in files {
            try CopyFixture.write(file.bytes, to: fixture.path(file.name))
            #expect(code(fixture.path(file.name)) == file.code, "\(file.name)")
        }
        #expect(code(fixture.folder.path) == .notAStore)
        #expect(code(fixture.path("missing")) == .storageFailed)
        #expect(code("") == .storageFailed)
        #expect(code(fixture.folder.storePath) == .storeInUse)
        #expect(!fixture.files.contains { $0.hasPrefix(".larder") || $0 == "restored" })
    }

    @Test("restoring a backup finds every changed byte, and a wrong length")
    func damage() throws {
        let bytes = try CopyFixture.bytes(of: try fixture.backup())
        let damaged = fixture.path("damaged")
        func check(_ changed: [UInt8], _ comment: Comment) throws {
            try CopyFixture.write(changed, to: damaged)
            let found = code(damaged)
            #expect(
                [.storageFailed, .notAStore, .storeTooNew, .storeInUse].contains(found), comment)
        }
        for count in [1, 16, 17, 4_096] { try check(bytes.dropLast(count), "\(count) less") }
        try check(bytes + [0], "one more")
        try check(bytes.dropLast(16) + bytes.suffix(4_096 + 16), "a page more")
        var random = SeededGenerator.fromEnvironment("damaged backups")
        // The header, the catalog on the first pages, the middle, and the trailer.
        let ranges = [0..<100, 100..<20_000, 0..<bytes.count, bytes.count - 16..<bytes.count]
        for round in 0..<120 {
            let index = Int.random(in: ranges[round % ranges.count], using: &random)
            let bit = UInt8(1) << Int.random(in: 0..<8, using: &random)
            var changed = bytes
            changed[index] ^= bit
            try check(changed, "byte \(index), bit \(bit)")
        }
        #expect(!fixture.files.contains { $0.hasPrefix(".larder") || $0 == "restored" })
    }

    @Test("restoring accepts the file of a closed store, and not one with a log")
    func closedStore() throws {
        let backup = try fixture.backup()
        _ = try Store.restore(backup, to: fixture.path("closed"))
        do {
            let library = try Library(path: fixture.path("closed"))
            try library.insert("Category", ["name": "new"])
            #expect(code(fixture.path("closed")) == .storeInUse)
            library.writer.close()
        }
        unlink(fixture.path("closed-wal"))
        #expect(code(fixture.path("closed")) == nil)
        try CopyFixture.write([1], to: fixture.path("closed-wal"))
        #expect(code(fixture.path("closed"), to: "second") == .storeInUse)
    }

    @Test("restoring replaces the temporary file of a killed process, and not of a running one")
    func abandoned() throws {
        let backup = try fixture.backup()
        // The name of the temporary file is found by being in its way.
        var checksum = Checksum()
        checksum.append("restored".utf8)
        let temporary = fixture.path(".larder-new-\(String(checksum.value, radix: 16))")
        try CopyFixture.write([1, 2, 3], to: temporary)
        try CopyFixture.write([4], to: temporary + "-wal")
        let descriptor = open(temporary, O_RDONLY)
        try #require(flock(descriptor, LOCK_EX | LOCK_NB) == 0)
        #expect(code(backup) == .unavailable)
        close(descriptor)
        #expect(code(backup) == nil)
        #expect(!fixture.files.contains { $0.hasPrefix(".larder") })
    }

    @Test("restoring a backup on a full disk fails and leaves nothing")
    func fullDisk() async {
        await #expect(processExitsWith: .success) {
            let fixture = try CopyFixture(rowCount: 3_000)
            let backup = try fixture.backup()
            signal(SIGXFSZ, SIG_IGN)
            for limit in [0, 4_096, 60_000] {
                var value = rlimit(rlim_cur: rlim_t(limit), rlim_max: rlim_t.max)
                try #require(setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &value) == 0)
                let error = #expect(throws: LarderError.self) {
                    try Store.restore(backup, to: fixture.path("restored"))
                }
                try #require(error?.code == .storageFull)
            }
            try #require(fixture.files.filter { !$0.hasPrefix("store") } == ["backup"])
        }
    }
}
