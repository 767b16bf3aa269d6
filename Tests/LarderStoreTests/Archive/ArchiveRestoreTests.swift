import FoundationEssentials
import LarderModel
import TestSupport
import Testing

@testable import LarderStore

@Suite("An archive restores a store")
struct ArchiveRestoreTests {
    private let library: ArchivedLibrary

    init() throws { library = try ArchivedLibrary() }

    private func category(_ name: String) -> ChangeSet {
        ChangeSet([.insert(.new("c", "Category"), values: ["name": .string(name)])])
    }

    /// Restores random transactions and compares each with the state after its commit.
    private func checkRandomStates(
        from first: Int64, _ generator: inout SeededGenerator, count: Int
    ) throws {
        let states = library.states.filter { $0.key >= first }.sorted { $0.key < $1.key }
        for _ in 0..<count {
            let last = try #require(states.last?.key)
            let transaction = Int64.random(in: first...last, using: &generator)
            let expected = try #require(states.first { $0.key >= transaction })
            let (outcome, contents) = try library.restored(.transaction(transaction))
            #expect(outcome.transaction == expected.key)
            #expect(contents == expected.value, "transaction \(transaction)")
        }
    }

    @Test("an archive restores random transactions, across segments and bases")
    func randomStates() throws {
        var generator = SeededGenerator.fromEnvironment("archive")
        library.limits.pagesBetweenCheckpoints = 120
        library.limits.pagesPerSegment = 60
        try library.open()
        let first = try library.save([category("first")])
        try library.archiveAll()
        for round in 0..<150 {
            try library.saveAtRandom(&generator, bytesMax: round % 10 == 0 ? 20_000 : 300)
            // Some segments end elsewhere.
            if round % 17 == 0 { #expect(try #require(library.store?.archive).finish()) }
        }
        try library.archiveAll()
        #expect(try library.archiveFolder.entries().count > 10)
        try checkRandomStates(from: first, &generator, count: RandomTesting.iterations(30))
        #expect(library.events.all.filter { $0.kind == .failure } == [])
    }

    @Test("a check and a restore report the bytes that they have read of those that they read")
    func progress() throws {
        try library.open()
        for name in ["a", "b"] {
            try library.save([category(name)])
            try library.archiveAll()
        }
        library.close()
        let folder = library.archiveFolder
        let files = try folder.entries()
        let byteCount = folder.byteCount(of: files)
        var reports: [(step: RestoreStep?, read: Int64, total: Int64)] = []

        #expect(
            try ArchiveContents.check(folder.path) { reports.append((nil, $0, $1)) } == [])
        #expect(reports.map(\.read) == reports.map(\.read).sorted())
        #expect(reports.allSatisfy { $0.total == byteCount })
        // The headers and the ends of the files are not counted.
        let last = try #require(reports.last?.read)
        #expect(last < byteCount && last > byteCount - 200 * Int64(files.count))

        reports = []
        _ = try ArchiveRestore.restore(
            from: folder.path, to: "\(library.folder)/restored", .latest
        ) { reports.append(($0, $1, $2)) }
        for step in [RestoreStep.verifies, .writes] {
            let reads = reports.filter { $0.step == step }
            #expect(reads.last?.read == last && reads.allSatisfy { $0.total == byteCount })
            #expect(reads.map(\.read) == reads.map(\.read).sorted())
        }
        var steps: [RestoreStep?] = []
        for report in reports where report.step != steps.last { steps.append(report.step) }
        #expect(steps == [.verifies, .writes, .checks])
    }

    @Test("an archive restores the last commit that is not later than a time")
    func times() throws {
        try library.open()
        try library.archiveAll()
        var commits: [(Int64, Date)] = []
        for name in ["a", "b", "c"] {
            let transaction = try library.save([category(name)])
            let time = try #require(try library.timeOfLastTransaction())
            commits.append((transaction, time))
            while Date() <= time {}
        }
        try library.archiveAll()
        for (transaction, time) in commits {
            #expect(try library.restored(.time(time)).outcome.transaction == transaction)
        }
        let between = commits[1].1.addingTimeInterval(-1e-6)
        #expect(try library.restored(.time(between)).outcome.transaction == commits[0].0)
        // The archive begins with the empty store, which is not what a time before means.
        let error = try library.refusal(.time(commits[0].1.addingTimeInterval(-1e-3)))
        #expect(error.code == .objectNotFound)
        #expect(error.message.contains("begins with transaction \(commits[0].0) of "))
        #expect(error.hint?.contains(commits[0].1.text) == true)
        #expect(error.hint?.contains("to \(commits[2].1.text)") == true)
        #expect(try library.restored(.transaction(0)).outcome.transaction == 0)
    }

    @Test("a restore to a transaction within a commit includes the whole commit")
    func group() throws {
        try library.open()
        try library.archiveAll()
        let first = try library.save([category("a"), category("b"), category("c")])
        try library.save([category("d")])
        try library.archiveAll()
        let (outcome, contents) = try library.restored(.transaction(first - 1))
        #expect(outcome.transaction == first)
        #expect(contents == library.states[first])
    }

    @Test("a store restored from an archive has a new epoch, and on request a new identifier")
    func identity() throws {
        try library.open()
        let original = try #require(library.store).storeDescription
        try library.save([category("a")])
        try library.archiveAll()
        for assigns in [false, true] {
            let path = "\(library.folder)/copy-\(assigns)"
            let outcome = try ArchiveRestore.restore(
                from: library.options.folder, to: path, .latest, assignsNewIdentifier: assigns)
            let copy = try Store.open(path: path, schema: nil)
            #expect(copy.storeDescription.historyEpoch > original.historyEpoch)
            #expect((copy.storeDescription.identifier == original.identifier) != assigns)
            #expect(copy.storeDescription.identifier == outcome.store)
        }
    }

    @Test("a restore from an archive refuses a file that exists, and leaves it unchanged")
    func existing() throws {
        try library.open()
        try library.save([category("a")])
        try library.archiveAll()
        for name in ["there", "other"] {
            let path = "\(library.folder)/\(name)"
            let existing = name == "there" ? path : path + "-wal"
            try Data("mine".utf8).write(to: URL(filePath: existing))
            let error = #expect(throws: LarderError.self) {
                try ArchiveRestore.restore(from: library.options.folder, to: path, .latest)
            }
            #expect(error?.code == .fileExists && error?.message.contains(existing) == true)
            #expect(try Data(contentsOf: URL(filePath: existing)) == Data("mine".utf8))
        }
    }

    @Test("a restore to a state that the archive does not have is an error with the range it has")
    func unknownStates() throws {
        // The archive begins with a store that has a transaction.
        try library.open(withArchive: false)
        let first = try library.save([category("a")])
        library.close()
        try library.open()
        try library.archiveAll()
        let last = try library.save([category("b")])
        try library.archiveAll()
        var error = try library.refusal(.transaction(last + 1))
        #expect(error.code == .objectNotFound)
        #expect(error.hint?.contains("\(first) to \(last)") == true)
        error = try library.refusal(.time(Date() + 1_000))
        #expect(error.message.contains("ends with transaction \(last)"))
        error = try library.refusal(.time(Date() - 1_000))
        #expect(error.code == .objectNotFound)
        #expect(error.hint?.contains("it can be restored to times from ") == true)
        error = try library.refusal(.latest, generation: 7)
        #expect(error.message.contains("no generation 7"))
        error = try #require(
            #expect(throws: LarderError.self) {
                try ArchiveRestore.restore(
                    from: library.folder + "/nothing", to: library.folder + "/new", .latest)
            })
        #expect(error.code == .storageFailed)
    }

    @Test("a restore with a damaged, missing or foreign archive file is an error")
    func damagedFiles() throws {
        try library.open()
        try library.save([category("a")])
        try library.archiveAll()
        var ends: [Int64] = []
        for name in ["b", "c", "d"] {
            ends.append(try library.save([category(name)]))
            #expect(try #require(library.store?.archive).finish())
        }
        library.close()
        let folder = library.archiveFolder
        let segments = try folder.entries().filter { $0.kind == .segment }
        let second = try #require(segments.first { $0.last == ends[1] })
        let path = folder.path(of: second)
        let bytes = try Data(contentsOf: URL(filePath: path))

        // Damaged: states before it can still be restored.
        var damaged = bytes
        damaged[bytes.count / 2] ^= 1
        try damaged.write(to: URL(filePath: path))
        var error = try library.refusal(.transaction(ends[2]))
        #expect(error.code == .storageFailed && error.message.contains(second.name))
        #expect(try library.restored(.transaction(ends[0])).outcome.transaction == ends[0])
        #expect(try ArchiveContents.check(library.options.folder).count == 1)

        // Missing.
        try folder.remove(second)
        error = try library.refusal(.transaction(ends[2]))
        #expect(error.message.contains("segment \(second.sequence)"))
        #expect(error.message.contains("is missing"))
        #expect(error.hint?.contains("up to transaction \(ends[0])") == true)
        #expect(try library.restored(.transaction(ends[0])).contents == library.states[ends[0]])
        #expect(try ArchiveContents.check(library.options.folder).count == 1)

        // Another segment under its name.
        let third = try #require(segments.first { $0.last == ends[2] })
        try FileManager.default.copyItem(atPath: folder.path(of: third), toPath: path)
        error = try library.refusal(.transaction(ends[2]))
        #expect(error.message.contains("does not follow"))

        try FileManager.default.removeItem(atPath: path)
        try bytes.write(to: URL(filePath: path))
        #expect(try ArchiveContents.check(library.options.folder) == [])
        #expect(try library.restored(.transaction(ends[2])).contents == library.states[ends[2]])
    }
}
