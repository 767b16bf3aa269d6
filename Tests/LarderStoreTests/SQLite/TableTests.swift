import Testing

@testable import LarderSQL
@testable import LarderStore

@Suite("A table in memory")
struct TableTests {
    private let folder: MemoryFolder
    private let connection: Connection

    init() throws {
        folder = try MemoryFolder()
        connection = try Connection(path: folder.storePath, createIfMissing: true)
    }

    /// The rows as text, with spaces between the fields.
    private func rows(_ sql: SQL) throws -> [String] {
        let statement = try connection.prepare(sql)
        var rows: [String] = []
        while try statement.step() {
            rows.append(
                (0..<statement.columnCount).map { statement.string(at: $0) }
                    .joined(separator: " "))
        }
        return rows
    }

    @Test("a table in memory has the number of rows in its argument, with values of any type")
    func values() throws {
        let values: [[FunctionResult]] = [
            [.integer(.min), .text("ä")], [.real(0.5), .blob([0, 255])], [.null, .text("")],
        ]
        try connection.registerTable(name: "t", columns: ["a", "b"]) { values[$0][$1] }
        #expect(
            try rows("SELECT typeof(a), quote(a), typeof(b), quote(b) FROM t(3)") == [
                "integer \(Int64.min) text 'ä'", "real 0.5 blob X'00FF'", "null NULL text ''",
            ])
        #expect(try rows("SELECT quote(a) FROM t(1)") == ["\(Int64.min)"])
        for none in ["t(0)", "t(-1)", "t(NULL)", "t"] as [SQL] {
            #expect(try rows("SELECT a FROM \(none)").isEmpty)
        }
    }

    @Test("a table in memory is filtered, ordered and limited by SQLite")
    func clauses() throws {
        try connection.registerTable(name: "t", columns: ["n", "half"]) { row, column in
            .integer(Int64(column == 0 ? row : row / 2))
        }
        #expect(
            try rows("SELECT n FROM t(9) WHERE half = 2 OR n > 6 ORDER BY n DESC LIMIT 3 OFFSET 1")
                == ["7", "5", "4"])
        #expect(
            try rows("SELECT a.n, b.n FROM t(4) AS a JOIN t(3) AS b ON a.half = b.n ORDER BY 1, 2")
                == ["0 0", "1 0", "2 1", "3 1"])
    }

    private final class Filling: Aggregation {
        private let fill: ([Int64]) -> Void
        private var values: [Int64] = []
        init(_ fill: @escaping ([Int64]) -> Void) { self.fill = fill }
        func step(_ arguments: FunctionArguments) { values.append(arguments[0].int64) }
        func finish() -> FunctionResult {
            fill(values)
            return .integer(Int64(values.count))
        }
    }

    @Test("a table in memory may be filled by the subquery that counts its rows, in each run")
    func filling() throws {
        var values: [Int64] = []
        try connection.registerAggregate(name: "fill", argumentCount: 1) { Filling { values = $0 } }
        try connection.registerTable(name: "t", columns: ["n"]) { row, _ in .integer(values[row]) }
        let statement = try connection.prepare(
            """
            SELECT n FROM t((SELECT fill(value) FROM json_each(?1) WHERE value > ?2))
            WHERE n <> ?2 + 1 ORDER BY n
            """)
        for (bound, expected) in [(0, [2, 3]), (1, [3]), (3, [])] as [(Int64, [Int64])] {
            try statement.bind([.text("[3, 1, 2]"), .integer(bound)])
            var read: [Int64] = []
            while try statement.step() { read.append(statement.int64(at: 0)) }
            statement.reset()
            #expect(read == expected)
        }
    }

    @Test("a table in memory ends the statement with the error of a value")
    func failing() throws {
        try connection.registerTable(name: "t", columns: ["a"]) { row, _ in
            row < 2 ? .null : .error("no such row")
        }
        let error = #expect(throws: SQLError.self) { try rows("SELECT a FROM t(9)") }
        #expect(error?.message == "no such row")
        #expect(try rows("SELECT quote(a) FROM t(2)") == ["NULL", "NULL"])
    }

    @Test("a table in memory cannot be used by a view in the file")
    func schema() throws {
        try connection.registerTable(name: "t", columns: ["a"]) { _, _ in .null }
        try connection.execute("CREATE VIEW v AS SELECT a FROM t(1)")
        let error = #expect(throws: SQLError.self) { try rows("SELECT a FROM v") }
        #expect(error?.message == "unsafe use of virtual table \"t\"")
    }

    private final class Witness: Sendable {}

    @Test("a table in memory is released with its connection")
    func lifetime() throws {
        weak var witness: Witness?
        try {
            let kept = Witness()
            witness = kept
            let other = try Connection(path: folder.storePath, createIfMissing: true)
            try other.registerTable(name: "t", columns: ["a"]) { _, _ in
                withExtendedLifetime(kept) { .null }
            }
            try other.execute("SELECT a FROM t(1)")
            #expect(witness != nil)
        }()
        #expect(witness == nil)
    }
}

extension Connection {
    /// Registers a table whose argument is the number of its rows.
    fileprivate func registerTable(
        name: String, columns: [String], value: @escaping (Int, Int) -> FunctionResult
    ) throws {
        try registerTable(name: name, columns: columns) { count in
            TableRows(count: Int(clamping: count.int64), value: value)
        }
    }
}
