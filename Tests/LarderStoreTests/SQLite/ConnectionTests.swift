import Glibc
import LarderModel
import LarderQuery
import Testing

@testable import LarderSQL
@testable import LarderStore

@Suite("A connection")
struct ConnectionTests {
    private let folder: MemoryFolder
    private let connection: Connection

    init() throws {
        folder = try MemoryFolder()
        connection = try Connection(path: folder.storePath, createIfMissing: true)
    }

    @Test("an SQLite connection returns bound values of every type")
    func bindings() throws {
        let values: [SQLValue] = [
            .null, .integer(.min), .integer(.max), .real(-0.5), .real(.infinity), .text(""),
            .text("nul \0 inside, ü"), .blob([]), .blob([0, 255]),
        ]
        let statement = try connection.prepare("SELECT ?")
        for value in values {
            try statement.bind([value])
            #expect(try statement.step())
            #expect(statement.value(at: 0) == value)
            #expect(try !statement.step())
            statement.reset()
        }
    }

    @Test("an SQLite connection finds the folder of its file, also through a link")
    func linkedFile() throws {
        let other = try MemoryFolder()
        #expect(symlink(folder.storePath, other.storePath) == 0)
        let linked = try Connection(path: other.storePath, createIfMissing: false)
        #expect(linked.folder == Array(folder.path.utf8CString))
        #expect(connection.folder == linked.folder)
    }

    @Test("an SQLite connection reports an error with SQLite's message and the statement")
    func mistake() {
        let error = #expect(throws: SQLError.self) { try connection.prepare("SELECT absent") }
        #expect(error?.message == "no such column: absent")
        #expect(error?.sql == "SELECT absent")
        #expect(error?.larderError.code == .storageFailed)
    }

    @Test("an SQLite connection does not read text in double quotes as a string")
    func doubleQuotes() {
        #expect(throws: SQLError.self) { try connection.execute("SELECT \"text\"") }
    }

    @Test("an SQLite connection refuses to write the schema table")
    func defensive() throws {
        try connection.execute("CREATE TABLE t (a)")
        #expect(throws: SQLError.self) {
            try connection.execute("PRAGMA writable_schema = ON; DELETE FROM sqlite_schema")
        }
    }

    @Test("an SQLite connection does not treat a path that looks like a URI or keyword as one")
    func literalPaths() {
        for path in ["", "file:/nowhere?mode=memory", ":memory:/nowhere", "a\0b"] {
            let error = #expect(throws: SQLError.self) {
                try Connection(path: path, createIfMissing: false)
            }
            #expect(error?.condition == .cannotOpen)
        }
    }

    @Test("an SQLite connection reports its changes, its last row and an open transaction")
    func state() throws {
        try connection.execute("CREATE TABLE t (a INTEGER PRIMARY KEY); INSERT INTO t VALUES (7)")
        #expect(connection.lastInsertedRowID == 7)
        #expect(connection.autocommit)
        try connection.execute("BEGIN; INSERT INTO t VALUES (8), (9)")
        #expect(connection.changes == 2)
        #expect(!connection.autocommit)
        try connection.execute("ROLLBACK")
        #expect(try connection.integer("SELECT count(*) FROM t") == 1)
    }

    @Test("an SQLite connection quotes names with quotes in them")
    func quoting() throws {
        for name in ["a \"b\" ; c", "a\"\u{301}b", "'"] {
            try connection.execute("CREATE TABLE \(name: name) (x)")
            #expect(try connection.integer("SELECT count(*) FROM \(name: name)") == 0)
            let statement = try connection.prepare("SELECT \(literal: name)")
            #expect(try statement.step())
            #expect(statement.string(at: 0) == name)
        }
    }

    @Test("an SQLite connection stops a statement after the steps that it may take")
    func stepBudget() throws {
        connection.setBudget(ReadBudget(work: 5_000))
        let error = #expect(throws: SQLError.self) { try connection.execute(Self.endless) }
        #expect(error?.larderError.code == .cancelled)
        #expect(connection.stopReason == .stepsExceeded)
        connection.setBudget(ReadBudget(work: 5_000))
        #expect(connection.stopReason == nil)
        #expect(try connection.integer("SELECT 1") == 1)
    }

    @Test("an SQLite connection stops a statement at its deadline")
    func deadline() {
        connection.setBudget(ReadBudget(deadline: .now))
        #expect(throws: SQLError.self) { try connection.execute(Self.endless) }
        #expect(connection.stopReason == .deadlinePassed)
    }

    @Test("an SQLite connection stops a statement that is cancelled from another thread")
    func cancellation() async {
        let cancellation = ReadCancellation()
        connection.setBudget(ReadBudget(cancellation: cancellation))
        let other = Task.detached { cancellation.cancel() }
        #expect(throws: SQLError.self) { try connection.execute(Self.endless) }
        await other.value
        #expect(connection.stopReason == .cancelled)
    }

    private static let endless: SQL =
        "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n"
}
