import FoundationEssentials
import LarderModel
import TestSupport
import Testing

@testable import LarderStore

@Suite("Reads by blocks")
struct BlockReadsTests {
    private let folder: MemoryFolder
    private let writer: Connection

    init() throws {
        folder = try MemoryFolder()
        writer = try Connection(path: folder.storePath, createIfMissing: true)
        try writer.execute(
            """
            PRAGMA page_size = 512; PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0;
            CREATE TABLE t (id INTEGER PRIMARY KEY, number INTEGER, text TEXT);
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
            INSERT INTO t SELECT i, i, hex(zeroblob(i % 50)) FROM n;
            """)
        try writer.checkpoint(.truncate)
    }

    private func reader(byBlocks: Bool) throws -> Connection {
        let reader = try Connection(path: folder.storePath, createIfMissing: false)
        reader.disableCheckpointOnClose()
        // A small cache, so that most pages are read from the file.
        try reader.execute("PRAGMA query_only = ON; PRAGMA cache_size = 10")
        if byBlocks { reader.readBlocks() }
        return reader
    }

    private func sum(_ reader: Connection) throws -> Int64? {
        try reader.integer("SELECT sum(number + length(text)) FROM t")
    }

    @Test("a scan by blocks makes a tenth of the system calls of a scan by pages")
    func systemCalls() throws {
        func calls(byBlocks: Bool) throws -> Int {
            let reader = try reader(byBlocks: byBlocks)
            let before = try readCalls()
            _ = try sum(reader)
            return try readCalls() - before
        }
        #expect(try calls(byBlocks: true) * 10 < calls(byBlocks: false))
    }

    /// The number of system calls by which this thread has read files.
    private func readCalls() throws -> Int {
        let text = try String(contentsOfFile: "/proc/thread-self/io", encoding: .utf8)
        return try #require(text.firstMatch(of: /syscr: ([0-9]+)/).flatMap { Int($0.1) })
    }

    @Test("a read by blocks sees what a checkpoint has written since the snapshot before")
    func nextSnapshot() throws {
        let reader = try reader(byBlocks: true)
        let first = try #require(try sum(reader))
        try writer.execute("UPDATE t SET number = number + 1")
        try writer.checkpoint(.truncate)
        #expect(try sum(reader) == first + 3_000)
    }

    @Test("a read by blocks keeps its snapshot while its pages are changed and written to the file")
    func keptSnapshot() throws {
        let reader = try reader(byBlocks: true)
        // So that a checkpoint may write while the snapshot exists.
        try writer.execute("UPDATE t SET number = 0 WHERE id = 1")
        let statement = try reader.prepare("SELECT id, number FROM t")
        for id in 1...3_000 as ClosedRange<Int64> {
            if id % 300 == 7 {
                try writer.execute("UPDATE t SET number = -1 WHERE id > 1")
                try writer.checkpoint(.passive)
            }
            #expect(try statement.step())
            #expect(statement.int64(at: 0) == id)
            #expect(statement.int64(at: 1) == (id == 1 ? 0 : id))
        }
        #expect(try !statement.step())
    }

    @Test("reads by blocks return the same as reads by pages, whatever is written in between")
    func randomWrites() throws {
        var random = SeededGenerator.fromEnvironment("reads by blocks")
        let readers = [try reader(byBlocks: true), try reader(byBlocks: false)]
        for _ in 0..<60 {
            for reader in readers { try reader.execute("BEGIN") }
            let scans = try readers.map { reader in
                try reader.prepare("SELECT id, number, text FROM t ORDER BY id")
            }
            var isRow = true
            while isRow {
                if Int.random(in: 0..<400, using: &random) == 0 { try write(&random) }
                let rows = try scans.map { scan in
                    try scan.step() ? (0..<3).map { scan.value(at: $0) } : []
                }
                #expect(rows[0] == rows[1])
                isRow = !rows[0].isEmpty
            }
            for reader in readers { try reader.execute("COMMIT") }
            try write(&random)
        }
    }

    /// Changes, inserts or deletes rows, or copies the log into the file.
    private func write(_ random: inout SeededGenerator) throws {
        let first = Int.random(in: 1...3_000, using: &random)
        let last = first + Int.random(in: 0...1_000, using: &random)
        switch Int.random(in: 0..<6, using: &random) {
        case 0: try writer.execute("DELETE FROM t WHERE id BETWEEN \(first) AND \(last)")
        case 1:
            try writer.execute(
                """
                INSERT OR IGNORE INTO t SELECT id + \(last), number, text FROM t \
                WHERE id BETWEEN \(first) AND \(last)
                """)
        case 2, 3:
            try writer.execute(
                "UPDATE t SET number = number + 1 WHERE id BETWEEN \(first) AND \(last)")
        // While a reader needs the log, this fails.
        case 4: try? writer.checkpoint(.truncate)
        default: try writer.checkpoint(.passive)
        }
    }
}
