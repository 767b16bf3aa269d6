#if PostgreSQL
import LarderModel
import LarderQuery
import Testing

@testable import LarderPostgres
@testable import LarderSQL

@Suite(
    "PostgreSQL's session of the writer",
    .enabled(if: PostgresServer.isInstalled, Comment(rawValue: PostgresServer.notInstalled)))
struct PostgresChangeSessionTests {
    private let session: PostgresChangeSession

    init() throws {
        let connection = try PostgresServer.connection()
        try connection.run(
            """
            CREATE TEMP TABLE t (a bigint PRIMARY KEY, b boolean, c numeric, d real, e uuid, \
            f bytea, g json, h text)
            """)
        session = try PostgresChangeSession(connection, deadline: .soon)
        session.begin()
    }

    private static let insert: SQL = "INSERT INTO t VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
    private static let all: SQL = "SELECT a FROM t ORDER BY a"

    private func insert(_ key: Int64) throws(SQLError) {
        let values = [SQLValue](repeating: .null, count: 7)
        try session.run(Self.insert, [.integer(key)] + values)
    }

    private func keys() throws -> [Int64] {
        var keys: [Int64] = []
        try session.rows(Self.all, []) { row in
            keys.append(row[0].int64 ?? 0)
            return true
        }
        return keys
    }

    @Test("values of each kind are stored in columns of each type, and come back as they were")
    func values() throws {
        let rows: [[SQLValue]] = [
            [
                .integer(.min), .integer(1), .text("-12.5"), .real(Double(Float(0.1))),
                .blob(Array(1...16)), .blob([0, 39, 92, 255]), .text("{\"a\": 2.50}"),
                .text("é'\"\\$1?"),
            ],
            [
                .integer(.max), .integer(0), .text("0"), .real(-.infinity),
                .blob([UInt8](repeating: 0, count: 16)), .blob([]), .text("null"), .text(""),
            ],
            [.integer(0)] + [SQLValue](repeating: .null, count: 7),
        ]
        for row in rows { try session.run(Self.insert, row) }
        var stored: [[SQLValue]] = []
        try session.rows("SELECT * FROM t ORDER BY h NULLS FIRST", []) { row in
            stored.append(row)
            return true
        }
        #expect(stored == [rows[2], rows[1], rows[0]])
        // Compared with the column, a value has its type.
        var count = 0
        try session.rows("SELECT 1 FROM t WHERE e = ? AND c = ?", [rows[0][4], rows[0][2]]) { _ in
            count += 1
            return true
        }
        #expect(count == 1)
    }

    @Test("the error of a statement that was queued is thrown at the next rows, or when it is sent")
    func queued() throws {
        session.beginSet()
        try insert(1)
        try insert(1)
        let error = #expect(throws: SQLError.self) { try keys() }
        #expect(error?.condition == .uniquenessViolated)
        #expect(!session.failedBeforeSet)
        session.rollBackSet()
        session.beginSet()
        try insert(2)
        session.endSet()
        #expect(try keys() == [2])
        try insert(2)
        session.beginSet()
        #expect(throws: SQLError.self) { try session.flush() }
        #expect(session.failedBeforeSet)
        session.rollBack()
        #expect(session.isReusable)
    }

    @Test("rows may run other statements, and a query sees nothing of what its visit changes")
    func nested() throws {
        for key in 1...3 as ClosedRange<Int64> { try insert(key) }
        var visited: [Int64] = []
        try session.rows(Self.all, []) { (row) throws(SQLError) in
            visited.append(row[0].int64 ?? 0)
            try insert((row[0].int64 ?? 0) + 10)
            return visited.count < 2
        }
        #expect(visited == [1, 2])
        #expect(try keys() == [1, 2, 3, 11, 12])
        visited = []
        try session.query(Self.all) { (row) throws(SQLError) in
            visited.append(row[0].int64 ?? 0)
            try insert((row[0].int64 ?? 0) + 100)
        }
        #expect(visited == [1, 2, 3, 11, 12])
        #expect(try keys().count == 10)
    }

    @Test("a query whose value overflows fails alone, and what was done before it stays")
    func overflow() throws {
        try insert(.max)
        let error = #expect(throws: SQLError.self) {
            try session.query("SELECT a + 1 FROM t") { _ in }
        }
        guard case .function(let reported)? = error?.condition else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(reported.code == .arithmeticOverflow)
        #expect(try keys() == [.max])
    }

    @Test("a query that is stopped leaves the transaction to its set")
    func stopped() throws {
        session.beginSet()
        try insert(1)
        session.limit.start(ReadBudget(deadline: .now + .milliseconds(200)))
        let error = #expect(throws: SQLError.self) {
            try session.query("SELECT pg_sleep(60)") { _ in }
        }
        #expect(error?.condition == .interrupted)
        #expect(throws: SQLError.self) { try session.checkBudget() }
        session.limit.start(ReadBudget())
        // A connection that may still receive the cancellation is not used again.
        guard session.connection.isUsable else { return #expect(!session.isReusable) }
        session.rollBackSet()
        #expect(try keys() == [])
    }
}
#endif
