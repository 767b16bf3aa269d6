import LarderModel
import LarderQuery
import Testing

@testable import LarderSQL
@testable import LarderStore

@Suite("A cache of statements")
struct StatementCacheTests {
    private let folder: MemoryFolder
    private let connection: Connection

    init() throws {
        folder = try MemoryFolder()
        connection = try Connection(path: folder.storePath, createIfMissing: true)
    }

    @Test("a cache of statements keeps the statements used most recently")
    func eviction() throws {
        let cache = StatementCache(connection, capacity: 2)
        let one = try cache.statement("SELECT 1")
        _ = try cache.statement("SELECT 2")
        #expect(try cache.statement("SELECT 1") === one)
        _ = try cache.statement("SELECT 3")
        #expect(cache.count == 2)
        #expect(try cache.statement("SELECT 1") === one)
    }

    @Test("a cache returns one statement for equal texts, and another one while it is running")
    func running() throws {
        let cache = StatementCache(connection)
        let sql: SQL = "SELECT 1 UNION ALL SELECT 2"
        let first = try cache.statement(sql)
        #expect(try cache.statement("SELECT 1 UNION ALL SELECT 2") === first)
        #expect(try first.step())
        let second = try cache.statement(sql)
        #expect(second !== first)
        #expect(try second.step())
        #expect(try first.step())
        #expect(first.int64(at: 0) == 2)
        first.reset()
        #expect(try cache.statement(sql) === first)
        #expect(cache.count == 1)
    }

    @Test("a cache finds statements by their identity, even if several share a slot")
    func slots() throws {
        let cache = StatementCache(connection)
        let statements = (0..<200).map { "SELECT \($0)" as SQL }
        for _ in 0..<3 {
            for (number, sql) in statements.enumerated() {
                let statement = try cache.statement(sql)
                #expect(try statement.step())
                #expect(statement.int64(at: 0) == Int64(number))
                statement.reset()
            }
        }
        cache.removeAll()
        #expect(cache.count == 0)
        #expect(try cache.statement(statements[7]).step())
    }

    // MARK: Memory

    /// A statement with many terms.
    private static func long(_ terms: Int, _ number: Int = 0) -> SQL {
        let columns = Array(repeating: "abs(?)" as SQL, count: terms)
        return "SELECT \(number), \(columns, separator: ", ")"
    }

    @Test("statements take a bounded memory in total, whatever their number")
    func memory() throws {
        let counter = MemoryCounter()
        let cache = StatementCache(
            connection, capacity: 1_000, bytesMax: 256 << 10, counter: counter)
        for number in 0..<200 {
            _ = try cache.statement(Self.long(10, number))
            #expect(cache.byteCount <= 256 << 10)
        }
        #expect(cache.count > 1 && cache.count < 200)
        #expect(counter.byteCount == cache.byteCount)
        cache.setBytesMax(16 << 10)
        #expect(cache.byteCount <= 16 << 10)
        cache.removeAll()
        #expect(cache.byteCount == 0 && counter.byteCount == 0)
    }

    @Test("a statement that would take a large part of the cache is used, but not kept")
    func largeStatement() throws {
        let cache = StatementCache(connection, bytesMax: 256 << 10)
        let short = try cache.statement("SELECT 1")
        let large = Self.long(1_000)
        let statement = try cache.statement(large)
        #expect(statement.memoryBytes > 32 << 10)
        #expect(try statement.step())
        #expect(cache.count == 1)
        #expect(try cache.statement(large) !== statement)
        #expect(try cache.statement("SELECT 1") === short)
    }

    @Test("a cache that ends is no longer counted")
    func end() throws {
        let counter = MemoryCounter()
        var cache: StatementCache? = StatementCache(connection, counter: counter)
        _ = try cache?.statement("SELECT 1")
        #expect(counter.byteCount > 0)
        cache = nil
        #expect(counter.byteCount == 0)
    }

    @Test("a statement one byte longer than the budget allows is not prepared")
    func statementBytes() throws {
        let cache = StatementCache(connection)
        let sql: SQL = "SELECT 12345"
        let count = sql.text.utf8.count
        connection.setBudget(ReadBudget(work: 1_000, statementBytesMax: count - 1))
        #expect(throws: SQLError.self) { try cache.statement(sql) }
        #expect(connection.stopReason == .stepsExceeded)
        connection.setBudget(ReadBudget(work: 1_000, statementBytesMax: count))
        let statement = try cache.statement(sql)
        // A statement that is prepared already takes no time.
        connection.setBudget(ReadBudget(work: 1_000, statementBytesMax: 1))
        #expect(try cache.statement(sql) === statement)
    }
}
