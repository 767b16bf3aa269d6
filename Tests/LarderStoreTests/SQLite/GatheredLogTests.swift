import FoundationEssentials
import LarderModel
import TestSupport
import Testing

@testable import LarderStore

/// A connection that writes its log in pieces, beside one that reads as all others do.
@Suite("A log that is written in pieces")
final class GatheredLogTests {
    private let folder: MemoryFolder
    private let writer: Connection
    private let reader: Connection

    init() throws {
        folder = try MemoryFolder()
        writer = try Connection(path: folder.storePath, createIfMissing: true, gathersLog: true)
        try writer.execute(
            """
            PRAGMA journal_mode = WAL; PRAGMA synchronous = full; PRAGMA wal_autocheckpoint = 0;
            CREATE TABLE t (id INTEGER PRIMARY KEY, text TEXT)
            """)
        reader = try Connection(path: folder.storePath, createIfMissing: false)
    }

    private func sum(_ connection: Connection) throws -> Int64? {
        try connection.integer("SELECT sum(id * length(text)) FROM t")
    }

    /// Rows that fill a page each.
    private func insert(_ keys: ClosedRange<Int>) throws {
        let statement = try writer.prepare("INSERT INTO t VALUES (?, ?)")
        for key in keys {
            try statement.run([
                .integer(Int64(key)), .text(String(repeating: "x", count: 3_000)),
            ])
        }
    }

    @Test("is there for other connections once a commit has returned, and not before")
    func commit() throws {
        try writer.execute("BEGIN")
        try insert(1...3)
        #expect(try sum(reader) == nil)
        #expect(try sum(writer) == 18_000)
        try writer.execute("COMMIT")
        #expect(try sum(reader) == 18_000)
    }

    @Test("gives back what did not fit into memory before the transaction was done")
    func spilled() throws {
        try writer.execute("PRAGMA cache_size = 10")
        try writer.execute("BEGIN")
        try insert(1...200)
        #expect(try sum(writer) == 60_300_000)
        try writer.execute("SAVEPOINT s")
        try insert(201...300)
        try writer.execute("ROLLBACK TO s")
        try insert(301...302)
        #expect(try sum(reader) == nil)
        try writer.execute("COMMIT")
        #expect(try sum(reader) == 62_109_000)
        try writer.execute("BEGIN")
        try insert(400...500)
        try writer.execute("ROLLBACK")
        try insert(1_000...1_000)
        #expect(try sum(reader) == 65_109_000)
        try writer.checkpoint(.truncate)
        #expect(try sum(writer) == 65_109_000)
        #expect(try writer.integer("SELECT count(*) FROM pragma_integrity_check") == 1)
    }

    @Test("is whole for whoever opens the file after it")
    func reopened() throws {
        try insert(1...5)
        let copy = folder.storePath + ".copy"
        // As a crash would leave it: nobody closes the connection.
        try FileManager.default.copyItem(atPath: folder.storePath, toPath: copy)
        try FileManager.default.copyItem(atPath: folder.storePath + "-wal", toPath: copy + "-wal")
        let other = try Connection(path: copy, createIfMissing: false)
        #expect(try sum(other) == 45_000)
        let first = try Connection(path: copy, createIfMissing: false, gathersLog: true)
        #expect(try sum(first) == 45_000)
    }

    @Test("goes on as the same file as without it, whatever is done at random")
    func random() throws {
        var random = SeededGenerator.fromEnvironment("a gathered log")
        let plainFolder = try MemoryFolder()
        let plain = try Connection(path: plainFolder.storePath, createIfMissing: true)
        try plain.execute(
            """
            PRAGMA journal_mode = WAL; PRAGMA synchronous = full; PRAGMA wal_autocheckpoint = 0;
            CREATE TABLE t (id INTEGER PRIMARY KEY, text TEXT)
            """)
        for connection in [writer, plain] { try connection.execute("PRAGMA cache_size = 20") }
        for _ in 0..<RandomTesting.iterations(300) {
            let key = Int.random(in: 1...100, using: &random)
            let length = Int.random(in: 0...20_000, using: &random)
            let texts = [
                "INSERT OR REPLACE INTO t VALUES (\(key), hex(zeroblob(\(length))))",
                "INSERT OR REPLACE INTO t VALUES (\(key), 'short')",
                "DELETE FROM t WHERE id > \(key)", "PRAGMA wal_checkpoint(TRUNCATE)",
                "PRAGMA wal_checkpoint(PASSIVE)",
                writer.autocommit ? "BEGIN" : "COMMIT", writer.autocommit ? "BEGIN" : "ROLLBACK",
            ]
            let text = try #require(texts.randomElement(using: &random))
            if text.hasPrefix("PRAGMA"), !writer.autocommit { continue }
            for connection in [writer, plain] { try connection.execute(text) }
            try #require(try sum(writer) == sum(plain), "seed \(random.seed)")
            guard writer.autocommit else { continue }
            try #require(try sum(reader) == sum(plain), "seed \(random.seed)")
        }
    }
}
