import LarderModel
import LarderQuery
import Testing

@testable import LarderSQL
@testable import LarderStore

@Suite("SQLite's session of the writer")
struct WriteSessionTests {
    private let folder: MemoryFolder
    private let session: StatementCache

    init() throws {
        folder = try MemoryFolder()
        session = StatementCache(try Connection(path: folder.storePath, createIfMissing: true))
        try session.run("CREATE TABLE t (a, b)", [])
        for number in 1...3 as ClosedRange<Int64> {
            try session.run("INSERT INTO t VALUES (?, ?)", [.integer(number), .text("\(number)")])
        }
    }

    private static let all: SQL = "SELECT a, b FROM t ORDER BY a"

    private func visited(_ sql: SQL, _ values: [SQLValue] = []) throws -> [[SQLValue]] {
        var rows: [[SQLValue]] = []
        try session.rows(sql, values) { row in
            rows.append(row.map { $0 })
            return true
        }
        return rows
    }

    @Test("a visit of rows ends when the closure returns false, and the statement can run again")
    func end() throws {
        var count = 0
        try session.rows(Self.all, []) { row in
            count += 1
            return row[0] != .integer(2)
        }
        #expect(count == 2)
        #expect(try visited(Self.all).count == 3)
    }

    @Test("the row of an outer visit stays as it is while the same statement and others run")
    func nested() throws {
        var pairs: [[SQLValue]] = []
        try session.rows(Self.all, []) { (row) throws(SQLError) in
            try session.rows(Self.all, []) { (inner) throws(SQLError) in
                try session.rows("SELECT 'x', 'y', 'z'", []) { _ in true }
                pairs.append([row[0], inner[1]])
                return inner[0] != .integer(2)
            }
            #expect(row == [row[0], .text("\(row[0].int64 ?? 0)")])
            return true
        }
        #expect(
            pairs
                == [1, 2, 3].flatMap { outer in
                    [[.integer(outer), .text("1")], [.integer(outer), .text("2")]]
                })
    }

    @Test("a visit that fails leaves the session usable, and its rows have the right columns")
    func errors() throws {
        let failure = SQLError(.other, "stop")
        let thrown = #expect(throws: SQLError.self) {
            try session.rows(Self.all, []) { (_) throws(SQLError) in
                throw failure
            }
        }
        #expect(thrown == failure)
        #expect(throws: SQLError.self) { try session.rows("SELECT x FROM t", []) { _ in true } }
        #expect(try visited("SELECT 1, NULL, 'c'") == [[.integer(1), .null, .text("c")]])
        #expect(try visited("SELECT 7") == [[.integer(7)]])
        #expect(try visited(Self.all).map(\.count) == [2, 2, 2])
    }

    @Test("the session holds no row after a visit")
    func spareRow() throws {
        _ = try visited(Self.all)
        #expect(session.spareRow == [.null, .null])
        _ = try? session.rows(Self.all, []) { (_) throws(SQLError) in
            throw SQLError(.other, "stop")
        }
        #expect(session.spareRow == [.null, .null])
    }

    @Test("an error of a function of the store is that function's, and no later one has it")
    func functions() throws {
        try StoreFunctions.register(on: session.connection)
        let sql: SQL = "SELECT \(function: IntegerFunctions.sum)(?, ?)"
        let error = #expect(throws: SQLError.self) {
            try session.rows(sql, [.integer(.max), .integer(0)]) { _ in true }
        }
        guard case .function(let reported)? = error?.condition else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(reported.code == .arithmeticOverflow)
        #expect(try visited(sql, [.integer(0), .integer(3)]) == [[.integer(3)]])
    }

    @Test("a query may be stopped, and the statements of its visit may not")
    func query() throws {
        let limit = session.connection.limit
        let cancellation = ReadCancellation()
        session.connection.report(to: WriterProgress())
        limit.start(ReadBudget(cancellation: cancellation))
        limit.isSuspended = true
        defer { limit.start(nil) }
        try session.query(Self.all) { (row) throws(SQLError) in
            #expect(limit.isSuspended)
            try session.run("UPDATE t SET b = 'n' WHERE a = ?", [row[0]])
        }
        #expect(try visited(Self.all).map { $0[1] } == [.text("n"), .text("n"), .text("n")])
        cancellation.cancel()
        let stopped = #expect(throws: SQLError.self) {
            try session.query(
                """
                WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c \
                WHERE n < 1000000000) SELECT count(*) FROM c
                """
            ) { _ in }
        }
        #expect(stopped?.condition == .interrupted)
        #expect(throws: SQLError.self) { try session.checkBudget() }
    }
}
