import FoundationEssentials
import Glibc
import LarderModel
import LarderQuery
import Testing

@testable import LarderSQL
@testable import LarderStore

@Suite("A store file")
struct StoreFileTests {
    /// A folder in memory, which is removed after the test.
    private let folder: MemoryFolder
    private let path: String
    private let schema: Schema

    init() throws {
        folder = try MemoryFolder()
        path = folder.storePath
        schema = try Schema(entities: [
            Entity(name: "Note", attributes: [Attribute(name: "text", type: .string)])
        ])
    }

    @discardableResult
    private func create() throws -> StoreDescription {
        try Store.open(path: path, schema: schema).storeDescription
    }

    private func refusal(
        schema: Schema? = nil, options: StoreOptions = StoreOptions()
    ) throws -> LarderError {
        let error = #expect(throws: LarderError.self) {
            try Store.open(path: path, schema: schema ?? self.schema, options: options)
        }
        return try #require(error)
    }

    private func write(_ bytes: [UInt8]) throws {
        try Data(bytes).write(to: URL(filePath: path))
    }

    private func execute(_ sql: SQL) throws {
        try Connection(path: path, createIfMissing: true).execute(sql)
    }

    @Test("a store file keeps its identifier and its schema")
    func reopening() throws {
        let first = try create()
        let second = try Store.open(path: path, schema: nil).storeDescription
        #expect(first == second)
        #expect(second.schema == schema)
        #expect(second.fingerprint == schema.fingerprint)
    }

    @Test(
        "a store with a transaction whose number has no successor is refused",
        arguments: [Int64.max, Limits.transactionNumbers.upperBound + 1, -1, .min])
    func transactionNumbers(number: Int64) throws {
        try create()
        try execute(
            "INSERT INTO _transaction VALUES (\(number), 0, '', '', 0, 0, 1, 'Note', 1, 1, '')")
        let error = try refusal()
        #expect(error.code == .storageFailed && error.message.contains("\(number)"))
        #expect(try refusal(options: StoreOptions(isReadOnly: true)).code == .storageFailed)
        try execute("UPDATE _transaction SET number = \(Limits.transactionNumbers.upperBound)")
        let store = try Store.open(path: path, schema: schema)
        let saved = try store.makeWriter().save([
            ChangeSet([.insert(.new("n", "Note"), values: ["text": "x"])])
        ])
        #expect(saved.allSatisfy { (try? $0.get()) == nil })
    }

    @Test("a store file opens with other original names, and not with another hash modifier")
    func renamedAndModified() throws {
        try create()
        func changed(originalName: String?, hashModifier: String?) throws -> Schema {
            let entities = schema.entities.map { entity in
                Entity(
                    name: entity.name, attributes: entity.attributes,
                    relationships: entity.relationships, parent: entity.parent,
                    originalName: originalName.map { $0 + entity.name },
                    hashModifier: hashModifier)
            }
            return try Schema(version: schema.version, entities: entities)
        }
        let renamed = try changed(originalName: "Old", hashModifier: nil)
        #expect(renamed != schema)
        let opened = try Store.open(path: path, schema: renamed).storeDescription
        #expect(opened.schema == schema)
        let error = try refusal(schema: changed(originalName: nil, hashModifier: "2"))
        #expect(error.code == .schemaMismatch)
        #expect(error.problems.count == schema.entities.count)
        #expect(error.problems.allSatisfy { $0.contains("hashModifier is none in the store") })
    }

    @Test("a store is created in an empty file")
    func emptyFile() throws {
        try write([])
        try create()
        #expect(try Store.open(path: path, schema: nil).storeDescription.schema == schema)
    }

    @Test("a new store file is still empty when its rollback journal gets its name")
    func journalName() throws {
        let connection = try Connection(path: path, createIfMissing: true)
        try connection.execute("BEGIN EXCLUSIVE")
        #expect(access(path + "-journal", F_OK) == 0)
        #expect(try Data(contentsOf: URL(filePath: path)).isEmpty)
    }

    @Test("a store file with a journal from an interrupted creation is created again")
    func halfCreated() throws {
        let first = try create().identifier
        let bytes = try [UInt8](Data(contentsOf: URL(filePath: path)))
        try write(Array(bytes[..<512]) + [UInt8](repeating: 0, count: bytes.count - 512))
        // SQLite's header of a journal whose transaction began with a file of no pages.
        let header: [UInt8] =
            [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7, 0, 0, 0, 0, 1, 2, 3, 4, 0, 0, 0, 0]
            + [0, 0, 2, 0, 0, 0, 16, 0]
        let padding = [UInt8](repeating: 0, count: 512 - header.count)
        try Data(header + padding).write(to: URL(filePath: path + "-journal"))
        let error = #expect(throws: LarderError.self) { try Store.open(path: path, schema: nil) }
        #expect(error?.message == "\(path) is empty and not a store yet")
        #expect(try create().identifier != first)
        #expect(access(path + "-journal", F_OK) != 0)
    }

    @Test("a store file is readable by its owner only")
    func mode() throws {
        try create()
        var status = stat()
        #expect(stat(path, &status) == 0)
        #expect(status.st_mode & 0o777 == 0o600)
    }

    @Test("a text file is refused as a store file and not changed")
    func textFile() throws {
        let text = Array("This is a letter, not a store.\n".utf8)
        try write(text)
        #expect(try refusal().code == .notAStore)
        #expect(try [UInt8](Data(contentsOf: URL(filePath: path))) == text)
    }

    @Test("a long file of zeros is refused as a store file")
    func zeros() throws {
        try write([UInt8](repeating: 0, count: 8_192))
        #expect(try refusal().code == .notAStore)
    }

    @Test("a folder is refused as a store file")
    func folderPath() throws {
        let error = #expect(throws: LarderError.self) {
            try Store.open(path: folder.path, schema: schema)
        }
        #expect(error?.code == .notAStore)
        #expect(error?.message == "\(folder.path) is a folder, not a store")
    }

    @Test("a device is refused as a store file")
    func device() {
        let error = #expect(throws: LarderError.self) {
            try Store.open(path: "/dev/null", schema: schema)
        }
        #expect(error?.code == .notAStore)
    }

    @Test("a store file in a folder that does not exist is not created")
    func missingFolder() {
        let error = #expect(throws: LarderError.self) {
            try Store.open(path: folder.path + "/none/store", schema: schema)
        }
        #expect(error?.code == .storageFailed)
        #expect(error?.hint == "create the folder first")
        #expect(error?.hint != nil)
    }

    @Test("a missing store file is not created without a schema or for reading only")
    func missingFile() throws {
        let error = #expect(throws: LarderError.self) { try Store.open(path: path, schema: nil) }
        #expect(error?.code == .storageFailed)
        #expect(error?.hint?.contains("--schema") == true)
        #expect(try refusal(options: StoreOptions(isReadOnly: true)).code == .storageFailed)
        #expect(access(path, F_OK) != 0)
    }

    @Test("an invalid path of a store file is rejected")
    func impossiblePaths() {
        for path in ["", "a\0b"] {
            let error = #expect(throws: LarderError.self) {
                try Store.open(path: path, schema: schema)
            }
            #expect(error?.code == .storageFailed)
        }
    }

    @Test("another program's SQLite database is refused as a store file")
    func foreignDatabase() throws {
        try execute("CREATE TABLE t (a)")
        let error = try refusal()
        #expect(error.code == .notAStore)
        #expect(error.message == "\(path) is an SQLite database, but not a Larder store")
    }

    @Test("a store file of a newer format is refused with both formats")
    func tooNew() throws {
        try create()
        try execute("PRAGMA user_version = 8")
        let error = try refusal()
        #expect(error.code == .storeTooNew)
        #expect(error.message.contains("format 8"))
        #expect(error.message.contains("up to 7"))
    }

    @Test("a store file without a history gets one when it is opened for writing")
    func upgrade() throws {
        try create()
        try execute(
            """
            DROP TABLE _transaction; DROP TABLE _change; DROP TABLE _preserved;
            DROP TABLE _outcome;
            INSERT INTO Note (_version, text) VALUES (1, 'old'); PRAGMA user_version = 1
            """)
        try withExtendedLifetime(
            Store.open(path: path, schema: nil, options: StoreOptions(isReadOnly: true))
        ) { store in
            let reader = try store.makeReader()
            #expect(try reader.check(budget: ReadBudget()).findings == [])
        }
        let store = try Store.open(path: path, schema: schema)
        let writer = try store.makeWriter()
        let note = Change.insert(.new("n", "Note"), values: ["text": "new"])
        let result = try writer.save([ChangeSet([note])])[0].get()
        #expect(result.transaction == 1)
        #expect(result.inserted.map(\.permanentKey) == [2])
        let reader = try store.makeReader()
        #expect(try reader.check(budget: ReadBudget()).findings == [])
        let statistics = try reader.statistics()
        #expect(statistics.first { $0.name == "formatVersion" }?.value == 7)
        writer.close()
    }

    /// The table in which all users shared their keys.
    private static let formerOutcomes: SQL = """
        DROP TABLE _outcome;
        CREATE TABLE _outcome (number INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE,
            digest INTEGER NOT NULL, time REAL NOT NULL, transaction_number INTEGER,
            inserted TEXT NOT NULL, versions TEXT NOT NULL, deleted INTEGER NOT NULL,
            merged TEXT NOT NULL, affected TEXT NOT NULL);
        """

    @Test(
        "a store file of a format that only permits fewer indexes gets today's number",
        arguments: [3, 4])
    func laterUpgrade(format: Int) throws {
        try create()
        try execute("INSERT INTO Note (_version, text) VALUES (1, 'old')")
        try execute(Self.formerOutcomes + "PRAGMA user_version = \(format)")
        let store = try Store.open(path: path, schema: schema)
        let reader = try store.makeReader()
        #expect(try reader.check(budget: ReadBudget()).findings == [])
        let statistics = try reader.statistics()
        #expect(statistics.first { $0.name == "formatVersion" }?.value == 7)
    }

    @Test("a store in which users shared idempotency keys keeps each key for its user")
    func outcomeUpgrade() throws {
        try create()
        let time = Int(Date().timeIntervalSinceReferenceDate)
        try execute(
            Self.formerOutcomes + """
                INSERT INTO Note (_version, text) VALUES (1, 'a'), (1, 'b'), (1, 'c');
                INSERT INTO _transaction VALUES (1, \(time), '', '', 10, 20, 1, 'Note', 1, 1, NULL),
                    (2, \(time), '', '', 11, 20, 1, 'Note', 2, 2, NULL),
                    (3, \(time), '', '', NULL, NULL, 1, 'Note', 3, 3, NULL);
                INSERT INTO _outcome VALUES (7, 'x', 1, \(time), 1, 'Note 1', '', 0, '', ''),
                    (8, 'y', 1, \(time), 2, 'Note 2', '', 0, '', ''),
                    (9, 'z', 1, \(time), 3, 'Note 3', '', 0, '', ''),
                    (10, 'w', 1, \(time), NULL, '', '', 0, '', ''),
                    (11, 'v', 1, \(time), 1, 'Note 1', '', 0, '', '');
                PRAGMA user_version = 5
                """)
        try withExtendedLifetime(
            Store.open(path: path, schema: nil, options: StoreOptions(isReadOnly: true))
        ) { store in
            let reader = try store.makeReader()
            #expect(try reader.check(budget: ReadBudget()).findings == [])
        }
        let store = try Store.open(path: path, schema: schema)
        let writer = try store.makeWriter()
        func keys(_ key: String, of user: UInt32?) throws -> [Int64?] {
            let note = Change.insert(.new("n", "Note"), values: ["text": "new"])
            let set = ChangeSet([note], idempotencyKey: key)
            let request = SaveRequest(
                set, from: ChangeSource(userIdentifier: user), digest: 1)
            return try writer.save([request])[0].get().inserted.map(\.permanentKey)
        }
        #expect(try keys("x", of: 10) == [1])
        #expect(try keys("v", of: 10) == [1])
        #expect(try keys("y", of: 11) == [2])
        #expect(try keys("z", of: nil) == [3])
        #expect(try keys("w", of: nil) == [])
        #expect(try keys("x", of: 11) == [4])
        let reader = try store.makeReader()
        #expect(try reader.check(budget: ReadBudget()).findings == [])
        writer.close()
        let rows = try store.openReadConnection().prepare(
            "SELECT user || ' ' || user_number || ' ' || key FROM _outcome ORDER BY number")
        var lines: [String] = []
        while try rows.step() { lines.append(rows.string(at: 0)) }
        #expect(lines == ["10 1 x", "11 1 y", "-1 1 z", "-1 2 w", "10 2 v", "11 2 x"])
    }

    /// Programs of formats 1 to 4 would write texts without their index, so they must refuse the
    /// file, as this program refuses a later format.
    @Test("a store file with indexes of texts has a format that older programs refuse")
    func formatOfIndexes() throws {
        func schema(_ version: Int, _ options: String) throws -> Schema {
            try SchemaFile.schema(
                parsing: """
                    {"version": "\(version).0.0", "entities": [{"name": "Note", "attributes": [
                      {"name": "text", "type": "string"\(options)}]}]}
                    """)
        }
        func format() throws -> Int64? {
            try Connection(path: path, createIfMissing: false).integer("PRAGMA user_version")
        }
        let indexed = try schema(2, #", "search": {"tokens": ["trigram", "words"]}"#)
        _ = try Store.open(path: path, schema: schema(1, ""))
        try execute(Self.formerOutcomes + "PRAGMA user_version = 4")
        #expect(try format() == 4)
        _ = try Store.open(
            path: path, schema: indexed, options: StoreOptions(migrates: true))
        #expect(try format() == 7)
        let refused = try refusal(schema: schema(1, ""))
        #expect(refused.code == .schemaMismatch)
    }

    @Test("a store file without indexes on positions gets them when it is opened for writing")
    func orderIndexes() throws {
        let schema = try Lists.schema()
        _ = try Store.open(path: path, schema: schema)
        let texts = Layout(schema).orderIndexes.map(\.statement)
        #expect(texts.count == 6)
        try execute(
            """
            DROP INDEX "_join.Book.readers.target_position";
            DROP INDEX "_join.Book.readers.source_position";
            DROP INDEX "_join.Reader.friends.target_position"
            """)
        let count: SQL = "SELECT count(*) FROM sqlite_schema WHERE name LIKE '%_position'"
        do {
            let options = StoreOptions(isReadOnly: true)
            let store = try Store.open(path: path, schema: nil, options: options)
            #expect(try store.openReadConnection().integer(count) == 3)
        }
        let store = try Store.open(path: path, schema: nil)
        #expect(try store.openReadConnection().integer(count) == 6)
    }

    @Test("a store file with one row per run of changes is upgraded")
    func historyUpgrade() throws {
        try create()
        try execute(
            """
            DROP TABLE _transaction; DROP TABLE _outcome;
            CREATE TABLE _transaction (number INTEGER PRIMARY KEY AUTOINCREMENT,
                time REAL NOT NULL, author TEXT, client TEXT, user INTEGER, process INTEGER);
            INSERT INTO Note (_version, text) VALUES (1, 'a'), (2, 'b'), (1, 'c');
            INSERT INTO _transaction VALUES (1, 7.5, 'ann', 'tool', 10, 20),
                (4, 8, 'bob', '', 1, 2);
            INSERT INTO _change VALUES (1, 0, 1, 'Note', 1, 3, NULL),
                (4, 0, 2, 'Note', 2, 2, 'text'), (4, 1, 3, 'Note', 9, 9, NULL);
            PRAGMA user_version = 2
            """)
        try withExtendedLifetime(
            Store.open(path: path, schema: nil, options: StoreOptions(isReadOnly: true))
        ) { store in
            let reader = try store.makeReader()
            #expect(try reader.check(budget: ReadBudget()).findings == [])
        }
        let store = try Store.open(path: path, schema: schema)
        let writer = try store.makeWriter()
        let note = Change.insert(.new("n", "Note"), values: ["text": "new"])
        let set = ChangeSet([note], idempotencyKey: "k")
        #expect(try writer.save([set])[0].get().transaction == 5)
        let reader = try store.makeReader()
        #expect(try reader.check(budget: ReadBudget()).findings == [])
        writer.close()
        let connection = try store.openReadConnection()
        let rows = try connection.prepare(
            """
            SELECT number || ' ' || coalesce(author, '') || ' ' || kind || ' ' || first_key || \
            '-' || last_key || ' ' || coalesce(properties, '') FROM _transaction UNION ALL \
            SELECT transaction_number || '.' || place || ' ' || kind FROM _change
            """)
        var lines: [String] = []
        while try rows.step() { lines.append(rows.string(at: 0)) }
        #expect(lines == ["1 ann 1 1-3 ", "4 bob 2 2-2 text", "5  1 4-4 ", "4.1 3"])
    }

    @Test("a store file with another schema is refused with every difference")
    func schemaMismatch() throws {
        try create()
        let other = try Schema(entities: [
            Entity(
                name: "Note",
                attributes: [
                    Attribute(name: "text", type: .data), Attribute(name: "more", type: .bool),
                ])
        ])
        let error = try refusal(schema: other)
        #expect(error.code == .schemaMismatch)
        #expect(error.problems.count == 2)
    }

    @Test("a store file with a damaged catalog is refused")
    func damagedCatalog() throws {
        try create()
        try execute("DELETE FROM _larder WHERE name = 'schema'")
        #expect(try refusal().code == .storageFailed)
        try execute("INSERT INTO _larder VALUES ('schema', '{')")
        #expect(try refusal().code == .storageFailed)
        try execute("DROP TABLE _larder")
        #expect(try refusal().code == .storageFailed)
    }

    @Test("a claim on a removed file does not stand in the way of a new file")
    func removedFile() throws {
        // A file system on disk gives the inode of a removed file to the next one.
        let former = "/var/tmp/larder-claim-\(getpid())"
        let claim = try OpenFile(claiming: former, createIfMissing: true)
        unlink(former)
        for number in 0..<20 {
            let path = "\(former)-\(number)"
            defer { unlink(path) }
            #expect(throws: Never.self) { try OpenFile(claiming: path, createIfMissing: true) }
        }
        withExtendedLifetime(claim) {}
    }

    @Test("a store file that this process has open is refused")
    func openTwice() throws {
        let store = try Store.open(path: path, schema: schema)
        let error = try refusal()
        #expect(error.code == .storeInUse)
        #expect(error.message == "\(path) is already open in this process")
        withExtendedLifetime(store) {}
    }

    @Test("a store file that another process has open is refused with the process's name")
    func otherProcess() throws {
        try create()
        let holder = try HoldingProcess(path: path)
        let error = try refusal()
        #expect(error.code == .storeInUse)
        #expect(error.message.hasPrefix("\(path) is held by python3"))
        #expect(error.message.hasSuffix("(process \(holder.processID))"))
        holder.end()
        try create()
    }

    @Test("an open store file is locked against other processes")
    func exclusive() throws {
        let store = try Store.open(path: path, schema: schema)
        #expect(throws: HoldingProcess.Failure.self) { try HoldingProcess(path: path) }
        withExtendedLifetime(store) {}
    }

    @Test("a store file is read with the log of a killed process")
    func recovery() throws {
        try create()
        let killed = try HoldingProcess(path: path, insertingInto: "Note")
        killed.end()
        #expect(access(path + "-wal", F_OK) == 0)
        let connection = try Store.open(path: path, schema: schema).openReadConnection()
        #expect(try connection.integer("SELECT count(*) FROM Note") == 1)
    }

    @Test("a store file cannot be written through a connection for reading")
    func readConnection() throws {
        let connection = try Store.open(path: path, schema: schema).openReadConnection()
        let error = #expect(throws: SQLError.self) {
            try connection.execute("INSERT INTO Note (_version) VALUES (1)")
        }
        #expect(error?.larderError.code == .readOnly)
    }

    @Test("a store in memory leaves no files")
    func inMemory() throws {
        var store: Store? = try Store.inMemory(schema: schema)
        let path = try #require(store?.path)
        #expect(access(path, F_OK) == 0)
        store = nil
        #expect(access(path, F_OK) != 0)
    }
}
