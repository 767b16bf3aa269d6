#if PostgreSQL
import Dispatch
import Glibc
import LarderPostgres
import Testing

@Suite(
    "Statements in a pipeline",
    .enabled(if: PostgresServer.isInstalled, Comment(rawValue: PostgresServer.notInstalled)))
struct PostgresPipelineTests {
    @Test("One statement of 10,000 that fails has its error, and all of them are rolled back")
    func failureInTheMiddle() throws {
        let connection = try PostgresServer.connection()
        try connection.run(
            "CREATE TEMPORARY TABLE number (value bigint CONSTRAINT one PRIMARY KEY)")
        let statements = (0..<10_000).map { index in
            PostgresStatement(
                "INSERT INTO number VALUES ($1) RETURNING value",
                [.integer(index == 5_000 ? 4_999 : Int64(index))])
        }
        let results = try connection.run(statements, deadline: .soon)
        #expect(results.count == 10_000)
        for (index, result) in results.enumerated() {
            switch result {
            case .success(let rows):
                #expect(index < 5_000)
                #expect(rows.rows == [[.integer(Int64(index))]])
                #expect(rows.affectedCount == 1)
            case .failure(let error) where index == 5_000:
                #expect(error.condition == .uniquenessViolated)
                #expect(error.constraint == "one")
                #expect(error.table == "number")
            case .failure(let error): #expect(index > 5_000 && error.condition == .notRun)
            }
        }
        #expect(try connection.run("SELECT count(*) FROM number").rows == [[.integer(0)]])
        let repaired = statements.filter { $0.parameters != [.integer(4_999)] }
        #expect(try connection.run(repaired, deadline: .soon).allSatisfy { (try? $0.get()) != nil })
        #expect(try connection.run("SELECT count(*) FROM number").rows == [[.integer(9_998)]])
    }

    @Test("A statement that cannot be prepared has its error, and can be prepared later")
    func failureOfPreparation() throws {
        let connection = try PostgresServer.connection()
        let statements = ["SELECT 1::bigint", "SELECT missing FROM later", "SELECT 2::bigint"]
            .map { PostgresStatement($0) }
        let results = try connection.run(statements, deadline: .soon)
        #expect(condition(results[0]) == nil)
        #expect(condition(results[1]) == .schemaChanged)
        #expect(condition(results[2]) == .notRun)
        try connection.run("CREATE TEMPORARY TABLE later AS SELECT 3::bigint AS missing")
        let again = try connection.run(statements, deadline: .soon)
        let values = try again.map { try $0.get().rows }
        #expect(values == [1, 3, 2].map { [[.integer($0)]] })
    }

    @Test("Long parameters and long results do not wait for each other")
    func bothDirections() throws {
        let connection = try PostgresServer.connection()
        let long = String(repeating: "y", count: 1_000_000)
        let statements = (0..<100).map { _ in PostgresStatement("SELECT $1", [.text(long)]) }
        let results = try connection.run(statements, deadline: .soon)
        #expect(try results.allSatisfy { try $0.get().rows == [[.text(long)]] })
    }

    @Test("Parameters that exceed the limit are an error before anything is run")
    func longParameters() throws {
        let connection = try PostgresServer.connection()
        let long = [UInt8](repeating: 0, count: PostgresConnection.parameterBytesMax)
        let statements = [
            PostgresStatement("CREATE TEMPORARY TABLE unmade ()"),
            PostgresStatement("SELECT $1", [.bytes(long)]),
        ]
        let error = #expect(throws: PostgresError.self) {
            try connection.run(statements, deadline: .soon)
        }
        #expect(error?.condition == .tooLarge)
        try connection.run("CREATE TEMPORARY TABLE unmade ()")
    }

    @Test("A result that exceeds the limit is an error, and the connection continues")
    func longResult() throws {
        let connection = try PostgresServer.connection()
        let rowCount = PostgresConnection.resultBytesMax / 1_000_000 + 1
        let error = #expect(throws: PostgresError.self) {
            try connection.run(
                "SELECT repeat('x', 1000000) FROM generate_series(1, $1)",
                .integer(Int64(rowCount)))
        }
        #expect(error?.condition == .tooLarge)
        guard connection.isUsable else { return }
        #expect(try connection.run("SELECT 1::bigint").rows == [[.integer(1)]])
    }

    @Test("More shapes than a connection keeps are prepared, and the oldest are released")
    func shapes() throws {
        let connection = try PostgresServer.connection()
        let count = 700
        let statements = (0..<count).map { PostgresStatement("SELECT \($0)::bigint") }
        for _ in 0..<2 {
            let results = try connection.run(statements, deadline: .soon)
            let rows = try results.map { try $0.get().rows }
            #expect(rows == (0..<count).map { [[.integer(Int64($0))]] })
        }
        let prepared = try connection.run("SELECT count(*) FROM pg_prepared_statements").rows
        #expect(prepared == [[.integer(512)]])
    }

    @Test("Rows are the same whether libpq collects them or not")
    func collectedRows() throws {
        let connection = try PostgresServer.connection()
        let text = "SELECT n, repeat('x', n::integer) FROM generate_series(1, $1) AS n"
        let statements = [false, true, false].map {
            PostgresStatement(text, [.integer(100)], returnsFewRows: $0)
        }
        let results = try connection.run(statements, deadline: .soon).map { try $0.get() }
        #expect(results[0] == results[1] && results[1] == results[2])
        #expect(results[0].rows.count == 100 && results[0].affectedCount == 100)
        #expect(results[0].columns == [.bigint, .text])
    }

    @Test("A statement that is too long to stay prepared runs with its parameters, too")
    func longStatement() throws {
        let connection = try PostgresServer.connection()
        let text = "SELECT $1 /* \(String(repeating: "x", count: 20_000)) */"
        for _ in 0..<2 {
            #expect(try connection.run(text, .integer(2)).rows == [[.integer(2)]])
        }
        let prepared = try connection.run("SELECT count(*) FROM pg_prepared_statements").rows
        #expect(prepared == [[.integer(1)]])
    }

    @Test("A statement whose table has another type fails once, and is prepared again")
    func changedTable() throws {
        let connection = try PostgresServer.connection()
        try connection.run("CREATE TEMPORARY TABLE changing AS SELECT 1::bigint AS value")
        #expect(try connection.run("SELECT value FROM changing").rows == [[.integer(1)]])
        try connection.run("ALTER TABLE changing ALTER value TYPE text")
        let error = #expect(throws: PostgresError.self) {
            try connection.run("SELECT value FROM changing")
        }
        #expect(error?.sqlState == "0A000")
        #expect(try connection.run("SELECT value FROM changing").rows == [[.text("1")]])
    }

    @Test("A failed transaction is rolled back, although shapes are to be released")
    func failedTransaction() throws {
        let connection = try PostgresServer.connection()
        try connection.run("BEGIN")
        #expect(throws: PostgresError.self) { try connection.run("SELECT 1 / 0") }
        #expect(connection.isInTransaction)
        for index in 0..<600 {
            let error = #expect(throws: PostgresError.self) {
                try connection.run("SELECT \(index), 1")
            }
            #expect(error?.condition == .notRun)
        }
        try connection.run("ROLLBACK")
        #expect(!connection.isInTransaction)
        #expect(try connection.run("SELECT 1::bigint").rows == [[.integer(1)]])
    }

    @Test("Violated constraints have conditions of their own, and the names of the constraints")
    func constraints() throws {
        let connection = try PostgresServer.connection()
        try connection.run("CREATE TEMPORARY TABLE parent (key bigint PRIMARY KEY)")
        try connection.run(
            """
            CREATE TEMPORARY TABLE child (parent bigint NOT NULL CONSTRAINT link REFERENCES parent,
            age bigint CONSTRAINT positive CHECK (age > 0))
            """)
        try connection.run("INSERT INTO parent VALUES (1)")
        let cases: [(String, PostgresError.Condition, String)] = [
            ("INSERT INTO parent VALUES (1)", .uniquenessViolated, "parent_pkey"),
            ("INSERT INTO child VALUES (2, 1)", .foreignKeyViolated, "link"),
            ("INSERT INTO child VALUES (1, 0)", .checkViolated, "positive"),
            ("INSERT INTO child VALUES (NULL, 1)", .notNullViolated, ""),
        ]
        for (text, condition, constraint) in cases {
            let error = #expect(throws: PostgresError.self) { try connection.run(text) }
            #expect(error?.condition == condition, "\(text)")
            #expect(error?.constraint == constraint, "\(text)")
            #expect(error?.message.contains("(2)") == false)
        }
    }

    @Test("Transactions that conflict fail with a condition that says that they may be run again")
    func serialization() throws {
        let connections = try [PostgresServer.connection(), PostgresServer.connection()]
        try connections[0].run("CREATE TABLE conflict (value bigint)")
        defer { _ = try? connections[0].run("DROP TABLE conflict") }
        for connection in connections {
            try connection.run("BEGIN ISOLATION LEVEL SERIALIZABLE")
            try connection.run("SELECT count(*) FROM conflict")
        }
        for connection in connections { try connection.run("INSERT INTO conflict VALUES (1)") }
        try connections[0].run("COMMIT")
        let error = #expect(throws: PostgresError.self) { try connections[1].run("COMMIT") }
        #expect(error?.condition == .serializationFailed)
        #expect(error?.larderError.code == .unavailable)
    }

    private func condition(
        _ result: Result<PostgresRows, PostgresError>
    ) -> PostgresError.Condition? {
        if case .failure(let error) = result { error.condition } else { nil }
    }
}
#endif
