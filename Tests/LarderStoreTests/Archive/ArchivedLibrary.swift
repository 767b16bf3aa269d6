import FoundationEssentials
import Glibc
import LarderModel
import Synchronization
import TestSupport
import Testing

@testable import LarderSQL
@testable import LarderStore

/// A store with an archive, and what it contained after each commit.
final class ArchivedLibrary {
    let folder: String
    private(set) var store: Store?
    private(set) var writer: Writer?
    private var reader: Connection?
    /// The content after each transaction that was the last one of its commit.
    private(set) var states: [Int64: [[SQLValue]]] = [:]
    let events = Events()
    var limits = Archive.Limits()
    var options: ArchiveOptions

    final class Events: Sendable {
        private let state = Mutex<[ArchiveEvent]>([])
        var all: [ArchiveEvent] { state.withLock { $0 } }
        func append(_ event: ArchiveEvent) { state.withLock { $0.append(event) } }
        func contains(_ text: String) -> Bool { all.contains { $0.message.contains(text) } }
    }

    /// - Parameter interval: Long, so that a test decides when a segment is made.
    init(interval: Duration = .seconds(3_600)) throws {
        folder =
            FileManager.default.temporaryDirectory.path + "/larder-archive-"
            + UUID().uuidString
        options = ArchiveOptions(folder: folder + "/archive", interval: interval)
        try FileManager.default.createDirectory(
            atPath: options.folder, withIntermediateDirectories: true)
    }

    deinit {
        close()
        try? FileManager.default.removeItem(atPath: folder)
    }

    var path: String { folder + "/store" }
    var archiveFolder: ArchiveFolder { ArchiveFolder(path: options.folder) }

    // MARK: Opening and closing

    func open(withArchive: Bool = true) throws {
        let events = events
        let store = try Store.open(
            path: path, schema: try Library.schema(),
            options: StoreOptions(synchronous: .normal),
            archive: withArchive ? options : nil, archiveLimits: limits
        ) { events.append($0) }
        writer = try #require(try store.makeWriter() as? Writer)
        reader = try store.openReadConnection()
        self.store = store
    }

    func close() {
        reader = nil
        writer?.close()
        writer = nil
        store = nil
    }

    /// Copies the store as it is while it is open, which is what a killed process leaves, and
    /// continues with the copy.
    func crash() throws {
        let copies = try ["", "-wal"].map { suffix in
            (suffix, try Data(contentsOf: URL(filePath: path + suffix)))
        }
        let archived = try Dictionary(
            uniqueKeysWithValues: archiveFolder.entries().map {
                ($0, try Data(contentsOf: URL(filePath: archiveFolder.path(of: $0))))
            })
        close()
        for entry in try archiveFolder.entries() { try archiveFolder.remove(entry) }
        for (entry, data) in archived {
            try data.write(to: URL(filePath: archiveFolder.path(of: entry)))
        }
        for (suffix, data) in copies { try data.write(to: URL(filePath: path + suffix)) }
    }

    // MARK: Writing

    /// Commits sets together.
    @discardableResult
    func save(_ sets: [ChangeSet]) throws -> Int64 {
        let writer = try #require(writer)
        var last: Int64 = 0
        for outcome in writer.save(sets) { last = max(last, try outcome.get().transaction ?? 0) }
        try record(last)
        writer.performMaintenance()
        return last
    }

    func record(_ transaction: Int64) throws {
        states[transaction] = try Self.contents(try #require(reader))
    }

    /// Commits one to four random sets together.
    func saveAtRandom(_ generator: inout SeededGenerator, bytesMax: Int = 3_000) throws {
        let count = Int.random(in: 1...4, using: &generator)
        try save(
            (0..<count).map { index in
                let length = Int.random(in: 0...bytesMax, using: &generator)
                let title = String(repeating: "x", count: length) + UUID().uuidString
                var changes: [Change] = [
                    .insert(.new("a", "Article"), values: ["title": .string(title)])
                ]
                let key = Int64.random(in: 1...40, using: &generator)
                let existing = try? firstArticle(from: key)
                if index == 0, let existing, let store {
                    changes.append(
                        .delete(
                            PersistentIdentifier(
                                store: store.storeDescription.identifier, entityName: "Article",
                                key: existing), ifVersion: nil))
                }
                return ChangeSet(changes)
            })
    }

    private func firstArticle(from key: Int64) throws -> Int64? {
        let statement = try #require(reader).prepare(
            "SELECT _id FROM Article WHERE _id >= ? LIMIT 1")
        try statement.bind([.integer(key)])
        return try statement.step() ? statement.int64(at: 0) : nil
    }

    func timeOfLastTransaction() throws -> Date? {
        let statement = try #require(reader).prepare("SELECT max(time) FROM _transaction")
        return try statement.step()
            ? Date(timeIntervalSinceReferenceDate: statement.double(at: 0)) : nil
    }

    /// Waits until everything is archived and the generation has a base.
    func archiveAll() throws {
        let archive = try #require(store?.archive)
        #expect(archive.finish())
        try wait { try hasBase(archive) }
    }

    private func hasBase(_ archive: Archive) throws -> Bool {
        let number = archive.state.withLock { $0.generation }
        return try archiveFolder.entries().contains {
            $0.kind == .base && $0.generation == number
        }
    }

    /// Makes the archive's thread work until a condition holds.
    func wait(until condition: () throws -> Bool) throws {
        let isReached = try eventually {
            store?.archive?.wake()
            return try condition()
        }
        #expect(isReached)
    }

    // MARK: Reading

    static func contents(_ connection: Connection) throws -> [[SQLValue]] {
        func rows(_ sql: SQL) throws -> [[SQLValue]] {
            let statement = try connection.prepare(sql)
            var rows: [[SQLValue]] = []
            while try statement.step() {
                rows.append((0..<statement.columnCount).map { statement.value(at: $0) })
            }
            return rows
        }
        let tables = try rows(
            """
            SELECT name FROM sqlite_schema WHERE type = 'table' \
            AND name NOT IN ('_larder', 'sqlite_sequence') ORDER BY 1
            """)
        return try tables.flatMap { table -> [[SQLValue]] in
            guard case .text(let name) = table[0] else { return [] }
            return try [table] + rows("SELECT * FROM \(name: name) ORDER BY 1, 2")
        }
    }

    /// Restores a state to a new file and reads it.
    func restored(
        _ target: ArchiveTarget, generation: Int64? = nil, assignsNewIdentifier: Bool = false
    ) throws -> (outcome: ArchiveRestore.Outcome, contents: [[SQLValue]]) {
        let path = "\(folder)/restored-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let outcome = try ArchiveRestore.restore(
            from: options.folder, to: path, target, generation: generation,
            assignsNewIdentifier: assignsNewIdentifier)
        let connection = try StoreConnection.open(path)
        return (outcome, try Self.contents(connection))
    }

    func refusal(
        _ target: ArchiveTarget, generation: Int64? = nil
    ) throws -> LarderError {
        let error = #expect(throws: LarderError.self) {
            try restored(target, generation: generation)
        }
        return try #require(error)
    }
}
