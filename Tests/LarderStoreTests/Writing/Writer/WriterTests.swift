import FoundationEssentials
import LarderModel
import LarderQuery
import Testing

@testable import LarderSQL
@testable import LarderStore

@Suite("the writer")
struct WriterTests {
    private let library: Library

    init() throws { library = try Library() }

    private func category(_ name: String) -> ChangeSet {
        ChangeSet([.insert(.new("c", "Category"), values: ["name": .string(name)])])
    }

    private func codes(_ outcomes: [Result<SaveResult, LarderError>]) -> [ErrorCode?] {
        outcomes.map { outcome in
            if case .failure(let error) = outcome { error.code } else { nil }
        }
    }

    @Test("the writer returns an outcome for each set of a group")
    func group() throws {
        let outcomes = library.writer.save([
            category("a"), category("a"), ChangeSet([.insert(.new("x", "Nothing"), values: [:])]),
            ChangeSet([
                .insert(.new("t", "Tag"), values: [:]),
                .delete(library.identifier("Tag", 77), ifVersion: nil),
            ]), category("b"), ChangeSet(),
        ])
        #expect(
            codes(outcomes) == [
                nil, .uniquenessViolated, .unknownEntity, .objectNotFound, nil, nil,
            ])
        #expect(
            try library.rows("SELECT _id, name FROM Category ORDER BY _id")
                == [[.integer(1), .text("a")], [.integer(2), .text("b")]])
        #expect(try library.count("Tag") == 0)
        #expect(codes(library.writer.save([ChangeSet]())) == [])
    }

    @Test("the writer adds sets that arrive in time to the group, each with its own outcome")
    func growingGroup() throws {
        func set(_ name: Value) -> SaveRequest {
            SaveRequest(
                ChangeSet([.insert(.new("c", "Category"), values: ["name": name])]))
        }
        var later = [[set("b"), set(nil)], [set("a"), set("c")]]
        var committed: Int64 = 0
        let outcomes = library.writer.save([set("a")]) {
            committed += (try? library.count("Category")) ?? -1
            return later.isEmpty ? [] : later.removeFirst()
        }
        #expect(committed == 0 && later.isEmpty)
        #expect(outcomes.map { (try? $0.get()) != nil } == [true, true, false, false, true])
        #expect(try library.count("Category") == 3)
        #expect(try library.count("_transaction") == 3)
    }

    @Test("the writer rolls back a set that begins its group, and saves those after it")
    func failingFirst() throws {
        let bad = ChangeSet([.insert(.new("c", "Category"), values: ["name": nil])])
        let good = ChangeSet([.insert(.new("c", "Category"), values: ["name": "a"])])
        let outcomes = library.writer.save([bad, good, bad, good])
        #expect(outcomes.map { (try? $0.get()) != nil } == [false, true, false, false])
        #expect(try library.count("Category") == 1)
    }

    @Test("the writer makes a group visible only when it is committed")
    func isolation() throws {
        try library.readConnection.execute("BEGIN")
        #expect(try library.count("Category") == 0)
        #expect(codes(library.writer.save([category("a"), category("b")])) == [nil, nil])
        #expect(try library.count("Category") == 0)
        try library.readConnection.execute("COMMIT")
        #expect(try library.count("Category") == 2)
    }

    @Test("the writer fails a whole group on a full disk, and recovers once there is space")
    func storageFull() throws {
        let connection = try #require(library.writer.statements?.connection)
        #expect(codes(library.writer.save([category("first")])) == [nil])
        let pages = try #require(try connection.integer("PRAGMA page_count"))
        try connection.execute("PRAGMA max_page_count = \(pages + 2)")
        let large = String(repeating: "x", count: 100_000)
        let before = try library.contents()
        let failed = library.writer.save([category("small"), category(large), category("other")])
        #expect(codes(failed) == [.storageFull, .storageFull, .storageFull])
        #expect(try library.contents() == before)
        #expect(try library.readConnection.integer("SELECT count(*) FROM Category") == 1)
        // A trial that does not grow the file succeeds, so small sets are accepted again.
        #expect(codes(library.writer.save([category("small")])) == [nil])
        #expect(codes(library.writer.save([category(large)])) == [.storageFull])
        try connection.execute("PRAGMA max_page_count = 1000000")
        #expect(codes(library.writer.save([category(large)])) == [nil])
        #expect(try library.rows("SELECT _id FROM Category").count == 3)
        #expect(try library.readConnection.integer("SELECT max(_id) FROM Category") == 3)
        #expect(try library.rows("PRAGMA integrity_check") == [[.text("ok")]])
    }

    @Test("the writer rejects writes to a damaged store until it is opened again")
    func damaged() throws {
        library.writer.recordFailure(
            SQLError(.corrupt, "database disk image is malformed"))
        #expect(codes(library.writer.save([category("a")])) == [.storageFailed])
        #expect(codes(library.writer.save([category("a")])) == [.storageFailed])
        #expect(try library.count("Category") == 0)
    }

    @Test("the writer opens a new connection after an I/O error, and continues with unused keys")
    func reopening() throws {
        #expect(codes(library.writer.save([category("a")])) == [nil])
        let before = library.writer.statements?.connection
        library.writer.recordFailure(SQLError(.inputOutput, "disk I/O error"))
        #expect(codes(library.writer.save([category("b")])) == [nil])
        #expect(library.writer.statements?.connection !== before)
        // Reserved keys are skipped.
        let next = try #require(try library.readConnection.integer("SELECT max(_id) FROM Category"))
        #expect(next > 1 && next <= 102)
    }

    @Test("the writer fails only the set with a value that is too large")
    func tooLarge() throws {
        let connection = try #require(library.writer.statements?.connection)
        connection.setValueBytesMax(10_000)
        let outcomes = library.writer.save([
            category("a"), category(String(repeating: "x", count: 20_000)), category("b"),
        ])
        #expect(codes(outcomes) == [nil, .resourceExhausted, nil])
        #expect(try library.count("Category") == 2)
    }

    @Test("the writer checkpoints a grown log between groups")
    func checkpoint() throws {
        let connection = try #require(library.writer.statements?.connection)
        let large = String(repeating: "x", count: 1 << 20)
        for number in 0..<6 { _ = library.writer.save([category("\(number)" + large)]) }
        #expect(connection.logPageCount > 1_000)
        library.writer.performMaintenance()
        library.writer.log.checkpointer.wait()
        // The log starts from its beginning.
        _ = library.writer.save([category("small")])
        #expect(connection.logPageCount < 100)
        try library.readConnection.execute("BEGIN")
        _ = try library.count("Category")
        for number in 10..<30 { _ = library.writer.save([category("\(number)" + large)]) }
        library.writer.performMaintenance()
        library.writer.log.checkpointer.wait()
        #expect(try library.count("Category") == 7)
        try library.readConnection.execute("COMMIT")
        #expect(try library.count("Category") == 27)
    }

    /// The length of the log's file after each of 100 commits, with the maintenance that is due.
    private func logLengths(_ writer: any StoreWriter) throws -> [Int] {
        try (0..<100).map { number in
            _ = try writer.save([category("\(number)")])[0].get()
            defer { if writer.needsMaintenance { writer.performMaintenance() } }
            return writer.logByteCount
        }
    }

    @Test("the writer leaves the length of the log's file if commits are not synced")
    func noLengthening() throws {
        let folder = try MemoryFolder()
        let store = try Store.open(
            path: folder.storePath, schema: Library.schema(),
            options: StoreOptions(synchronous: .normal))
        for writer in [try store.makeWriter(), library.writer] {
            #expect(Set(try logLengths(writer)).count == 100)
            writer.close()
        }
    }

    @Test("the writer makes the log's file longer before it is full")
    func lengthening() throws {
        let folder = try MemoryFolder()
        let store = try Store.open(
            path: folder.storePath, schema: Library.schema(),
            options: StoreOptions(synchronous: .full))
        let writer = try store.makeWriter()
        let lengths = try logLengths(writer)
        #expect(lengths == lengths.sorted())
        // Two commits of a few pages each, and then one in a while.
        #expect(Set(lengths.dropFirst(10)).count < 10, "\(lengths)")
        // The files that a killed process leaves.
        let copy = try MemoryFolder()
        for suffix in ["", "-wal"] {
            try Data(contentsOf: URL(filePath: folder.storePath + suffix))
                .write(to: URL(filePath: copy.storePath + suffix))
        }
        let recovered = try Store.open(path: copy.storePath, schema: Library.schema())
        let connection = try recovered.openReadConnection()
        #expect(try connection.integer("SELECT count(*) FROM Category") == 100)
        writer.close()
    }

    @Test("the writer rejects sets after it is closed, and leaves everything in the file")
    func close() throws {
        #expect(codes(library.writer.save([category("a")])) == [nil])
        library.writer.close()
        library.writer.close()
        library.writer.performMaintenance()
        #expect(codes(library.writer.save([category("b")])) == [.unavailable])
        #expect(try library.count("Category") == 1)
    }

    @Test("the writer rejects every set of a store that is opened for reading")
    func readOnly() throws {
        let folder = try MemoryFolder()
        _ = try Store.open(path: folder.storePath, schema: Library.schema())
        let store = try Store.open(
            path: folder.storePath, schema: nil, options: StoreOptions(isReadOnly: true))
        #expect(store.storeDescription.isReadOnly)
        let writer = try store.makeWriter()
        #expect(codes(writer.save([category("a"), ChangeSet()])) == [.readOnly, .readOnly])
        writer.performMaintenance()
        writer.close()
    }

    @Test("the writer continues with the next keys when the store is opened again")
    func persistence() throws {
        let folder = try MemoryFolder()
        for key in Int64(1)...3 {
            let store = try Store.open(
                path: folder.storePath, schema: Library.schema(),
                options: StoreOptions(synchronous: .normal))
            let writer = try store.makeWriter()
            let result = try writer.save([category("\(key)")])[0].get()
            #expect(result.inserted[0].permanentKey == key)
            writer.close()
        }
    }
}
