import Testing

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
}
