import Testing

@testable import LarderSQL
@testable import LarderStore

@Suite("A function in Swift")
struct FunctionTests {
    private let folder: MemoryFolder
    private let connection: Connection

    init() throws {
        folder = try MemoryFolder()
        connection = try Connection(path: folder.storePath, createIfMissing: true)
    }

    private func value(_ sql: SQL) throws -> SQLValue {
        let statement = try connection.prepare(sql)
        #expect(try statement.step())
        return statement.value(at: 0)
    }

    @Test("an SQL function in Swift receives and returns values of any type")
    func scalar() throws {
        try connection.registerScalar(name: "echo", argumentCount: 1) { arguments in
            switch arguments[0].type {
            case .integer: .integer(arguments[0].int64)
            case .real: .real(arguments[0].double)
            case .text: .text(arguments[0].string)
            case .blob: .blob(arguments[0].withBytes { [UInt8]($0) })
            case .null: .null
            }
        }
        #expect(try value("SELECT echo(42)") == .integer(42))
        #expect(try value("SELECT echo(0.5)") == .real(0.5))
        #expect(try value("SELECT echo('')") == .text(""))
        #expect(try value("SELECT echo('ä')") == .text("ä"))
        #expect(try value("SELECT echo(x'')") == .blob([]))
        #expect(try value("SELECT echo(x'00ff')") == .blob([0, 255]))
        #expect(try value("SELECT echo(NULL)") == .null)
    }

    @Test("an SQL function in Swift ends the statement with an error's message")
    func failing() throws {
        try connection.registerScalar(name: "fail", argumentCount: 0) { _ in
            .error("no such day")
        }
        let error = #expect(throws: SQLError.self) { try value("SELECT fail()") }
        #expect(error?.message == "no such day")
        #expect(error?.larderError.code == .storageFailed)
    }

    private final class Concatenation: Aggregation {
        private var text = ""
        func step(_ arguments: FunctionArguments) { text += arguments[0].string }
        func finish() -> FunctionResult { .text(text) }
    }

    @Test("an SQL aggregate in Swift computes each group alone, also one without rows")
    func aggregate() throws {
        try connection.registerAggregate(name: "concatenation", argumentCount: 1) {
            Concatenation()
        }
        try connection.execute(
            "CREATE TABLE t (g, v); INSERT INTO t VALUES (1, 'a'), (2, 'b'), (1, 'c')")
        let statement = try connection.prepare(
            "SELECT concatenation(v) FROM t GROUP BY g ORDER BY g")
        var groups: [String] = []
        while try statement.step() { groups.append(statement.string(at: 0)) }
        #expect(groups == ["ac", "b"])
        #expect(try value("SELECT concatenation(v) FROM t WHERE g = 3") == .text(""))
    }

    private final class Witness: Sendable {}

    @Test("an SQL function in Swift is released with its connection")
    func lifetime() throws {
        weak var witness: Witness?
        try {
            let kept = Witness()
            witness = kept
            let other = try Connection(path: folder.storePath, createIfMissing: true)
            try other.registerScalar(name: "f", argumentCount: 0) { _ in
                withExtendedLifetime(kept) { .null }
            }
            try other.registerCollation(name: "c") { _, _ in withExtendedLifetime(kept) { 0 } }
            #expect(witness != nil)
        }()
        #expect(witness == nil)
    }

    @Test("a collation in Swift orders texts")
    func collation() throws {
        try connection.registerCollation(name: "byLength") { $0.count - $1.count }
        let statement = try connection.prepare(
            "SELECT column1 FROM (VALUES ('ccc'), ('a'), ('bb')) ORDER BY column1 COLLATE byLength")
        var texts: [String] = []
        while try statement.step() { texts.append(statement.string(at: 0)) }
        #expect(texts == ["a", "bb", "ccc"])
    }
}
