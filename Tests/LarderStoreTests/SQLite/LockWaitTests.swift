import CSQLite
import LarderModel
import Testing

@testable import LarderSQL
@testable import LarderStore

/// Every way in which SQLite reports that a lock is not free although no other process has the
/// file. Each is forced on one thread: the lock is released when it was not free some times.
@Suite("Locks of the connections of one store")
struct LockWaitTests {
    private static let attempts = 3

    private let folder: MemoryFolder
    private let library: Library
    /// Has the locks that the connection of a test needs.
    private let other: DatabaseFile

    init() throws {
        folder = try MemoryFolder()
        library = try Library(path: folder.storePath)
        let connection = try StoreConnection.open(folder.storePath)
        connection.disableCheckpointOnClose()
        _ = try connection.integer("SELECT count(*) FROM Category")
        other = try DatabaseFile(connection)
    }

    private func save(_ name: String) throws {
        try library.insert("Category", ["name": .string(name)])
    }

    private static func condition(
        _ body: () throws(SQLError) -> Void
    ) -> SQLError.Condition? {
        do throws(SQLError) { try body() } catch { return error.condition }
        return nil
    }

    /// The call of one connection while another one has a lock that it needs.
    enum Way: CaseIterable {
        /// A reader has the writer's lock, because it found the header of the log half written.
        case beginBesideReader
        /// Another transaction was committed after the snapshot of this one was taken.
        case beginBesideCommit
        /// Another connection repairs the index of the log.
        case readBesideRecovery
        /// Another connection closes, and asks for the whole file.
        case openBesideClose

        var lock: LockProbe.Lock {
            switch self {
            case .beginBesideReader, .beginBesideCommit: .exclusive(.write)
            case .readBesideRecovery: .shared(.recover)
            case .openBesideClose: .file
            }
        }

        var statement: SQL {
            switch self {
            case .beginBesideReader, .beginBesideCommit: "BEGIN IMMEDIATE"
            case .readBesideRecovery, .openBesideClose: "SELECT count(*) FROM Category"
            }
        }
    }

    private func begin(_ way: Way) throws {
        switch way {
        case .beginBesideReader: #expect(other.lock(.write) == SQLITE_OK)
        case .beginBesideCommit: break
        case .readBesideRecovery:
            #expect(other.lock(.write) == SQLITE_OK && other.lock(.recover) == SQLITE_OK)
            try other.changeHeader()
        case .openBesideClose: #expect(other.lockFile() == SQLITE_BUSY)
        }
    }

    private func end(_ way: Way) throws {
        switch way {
        case .beginBesideReader: other.unlock(.write)
        case .beginBesideCommit: break
        case .readBesideRecovery:
            try other.changeHeader()
            other.unlock(.recover)
            other.unlock(.write)
        case .openBesideClose: other.unlockFile()
        }
    }

    @Test(
        "a connection waits for the locks of others, of which SQLite reports each as busy",
        arguments: Way.allCases)
    func waits(_ way: Way) throws {
        func connection() throws -> Connection {
            let connection = try StoreConnection.open(folder.storePath)
            connection.disableCheckpointOnClose()
            if way != .openBesideClose {
                _ = try connection.integer("SELECT count(*) FROM Category")
            }
            return connection
        }
        let impatient = try connection()
        try begin(way)
        let first = try LockProbe(impatient, way.lock) { _ in
            if way == .beginBesideCommit { try? save("first") }
            return SQLITE_OK
        }
        #expect(
            Self.condition { () throws(SQLError) in try impatient.execute(way.statement) }
                == .busy)
        #expect(first.attemptCount >= 1)
        try end(way)

        let patient = try connection()
        patient.waitForLocks()
        try begin(way)
        let second = try LockProbe(patient, way.lock) { attempt in
            if way == .beginBesideCommit {
                if attempt < Self.attempts { try? save("second \(attempt)") }
            } else if attempt == Self.attempts {
                try? end(way)
            }
            return SQLITE_OK
        }
        try patient.execute(way.statement)
        #expect(second.attemptCount >= Self.attempts)
    }

    @Test("a save waits while a reader has the writer's lock")
    func save() throws {
        let writing = try #require(library.writer.statements?.connection)
        #expect(other.lock(.write) == SQLITE_OK)
        let probe = try LockProbe(writing, .exclusive(.write)) { attempt in
            if attempt == Self.attempts { other.unlock(.write) }
            return SQLITE_OK
        }
        try save("a")
        #expect(probe.attemptCount == Self.attempts)
        try save("b")
        #expect(try library.count("Category") == 2)
    }

    @Test("a read waits while a commit changes the header of the log")
    func read() throws {
        let reader = try StoreConnection.open(folder.storePath)
        reader.disableCheckpointOnClose()
        #expect(try reader.integer("SELECT count(*) FROM Category") == 0)
        try save("a")
        #expect(other.lock(.write) == SQLITE_OK)
        try other.changeHeader()
        let probe = try LockProbe(reader, .exclusive(.write)) { attempt in
            if attempt == Self.attempts {
                try? other.changeHeader()
                other.unlock(.write)
            }
            return SQLITE_OK
        }
        #expect(try reader.integer("SELECT count(*) FROM Category") == 1)
        #expect(probe.attemptCount >= Self.attempts)
    }

    @Test("a lock that is never released is an error that says so, after a bounded time")
    func never() throws {
        let reader = try StoreConnection.open(folder.storePath)
        reader.disableCheckpointOnClose()
        reader.waitForLocks()
        let probe = try LockProbe(reader, .shared(.firstReader)) { _ in SQLITE_BUSY }
        // SQLite itself tries a hundred times, and sleeps for 10 s between them.
        let files = try #require(sqlite3_vfs_find("unix-excl"))
        let sleep = files.pointee.xSleep
        files.pointee.xSleep = { _, microseconds in microseconds }
        defer { files.pointee.xSleep = sleep }
        do throws(SQLError) {
            _ = try reader.integer("SELECT count(*) FROM Category")
            Issue.record("the lock is not free")
        } catch {
            #expect(error.larderError.code == .unavailable)
            #expect(
                error.larderError.message == "the store waited too long for a lock of its own")
        }
        #expect(probe.attemptCount >= 100)
    }

    @Test("a checkpoint waits only briefly for readers that need the log")
    func checkpoint() throws {
        try save("a")
        let reader = library.readConnection
        try reader.execute("BEGIN")
        #expect(try library.count("Category") == 1)
        try save("b")
        let writing = try #require(library.writer.statements?.connection)
        let probe = try LockProbe(writing, .exclusive(.firstReader)) { _ in SQLITE_OK }
        for kind in [Connection.Checkpoint.restart, .truncate] {
            #expect(
                Self.condition { () throws(SQLError) in try writing.checkpoint(kind) } == .busy)
        }
        // For about 5 ms, at each of the locks.
        #expect(probe.attemptCount > 30 && probe.attemptCount <= 5 * 2 * 31)
        try reader.execute("COMMIT")
        #expect(
            Self.condition { () throws(SQLError) in try writing.checkpoint(.truncate) } == nil)
    }
}
