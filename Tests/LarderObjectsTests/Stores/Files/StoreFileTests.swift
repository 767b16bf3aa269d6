import Foundation
import LarderClient
import LarderModel
import TestSupport
import Testing

@testable import LarderObjects
@testable import LarderStore

@Suite("Store files")
struct StoreFileTests {
    private let folder: TemporaryFolder
    private let path: String

    init() throws {
        folder = try TemporaryFolder()
        path = folder["sample.store"]
    }

    private func open(
        _ schema: Schema? = nil, _ change: (inout StoreFileOptions) -> Void = { _ in }
    ) throws -> ClientStore {
        var options = StoreFileOptions()
        options.waitTimeMax = .seconds(300)
        change(&options)
        return try StoreFile.open(path: path, schema: schema ?? .sample(), options: options)
    }

    private func error(_ body: () throws -> Void) -> LarderError? {
        do { try body() } catch { return error as? LarderError }
        return nil
    }

    @Test("opening a store file creates it, and its objects remain after it is closed")
    func file() throws {
        do {
            let store = try open()
            let text = try Data(contentsOf: URL(filePath: path)).prefix(15)
            #expect(text == Data("SQLite format 3".utf8))
            #expect(StoreFile.isOwner(ofStoreAt: path))
            #expect(try folder.fileNames.contains("sample.store.socket"))
            try store.insert("Ann")
        }
        #expect(!StoreFile.isOwner(ofStoreAt: path))
        #expect(try folder.fileNames == ["sample.store"])
        #expect(try open().names() == ["Ann"])
    }

    @Test("a named pipe beside a store file is an error that names it, and nobody waits for it")
    func namedPipes() throws {
        do { try open().insert("Ann") }
        for ending in [".owner", "-wal", "-journal"] {
            #expect(mkfifo(path + ending, 0o600) == 0)
            let found = error { _ = try open() }
            #expect(found?.code == .storageFailed)
            #expect(found?.message.hasPrefix("\(path)\(ending) is a named pipe, and ") == true)
            #expect(remove(path + ending) == 0)
        }
        // A socket elsewhere replaces one that cannot be made there.
        #expect(mkfifo(path + ".socket", 0o600) == 0)
        #expect(try open().names() == ["Ann"])
    }

    @Test("containers of one process share a store file, by any path of the file")
    func sharing() throws {
        let store = try open()
        try FileManager.default.createSymbolicLink(
            atPath: folder["link"], withDestinationPath: path)
        let other = try StoreFile.open(path: folder["link"], schema: .sample())
        #expect(store === other)
        let reader = try open { $0.client.isReadOnly = true }
        try store.insert("Ann")
        #expect(try reader.names() == ["Ann"])
        #expect(error { try reader.insert("Bob") }?.code == .readOnly)
    }

    @Test("a store file can be opened again while other threads open and close it")
    func reopening() async throws {
        let path = path
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<4 {
                group.addTask {
                    for round in 0..<10 {
                        let store = try StoreFile.open(path: path, schema: .sample())
                        try store.insert("\(task) \(round)")
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try open().studentCount() == 40)
    }

    @Test("hundreds of openings of a store file leave no descriptors and no threads")
    func resources() throws {
        for _ in 0..<10 { try open().insert() }
        let before = try ProcessResources.now()
        for _ in 0..<400 { try open().insert() }
        #expect(try before.leak(after: 400) == nil)
    }

    @Test("store files that were removed are created again, also while an old store is open")
    func removedFiles() throws {
        func remove() throws {
            for suffix in ["", "-wal", "-shm"] {
                try? FileManager.default.removeItem(atPath: path + suffix)
            }
        }
        var store: ClientStore? = try open()
        try store?.insert("Ann")
        store = nil
        try remove()
        store = try open()
        #expect(try store?.studentCount() == 0)
        try remove()
        let next = try open()
        try next.insert("Bob")
        #expect(try next.names() == ["Bob"])
        #expect(throws: LarderError.self) { try store?.insert("Eve") }
    }

    @Test("store files that are copied after a save are a store with the same objects")
    func copies() throws {
        let store = try open()
        try store.insert("Ann")
        let copy = folder["copy.store"]
        for suffix in ["", "-wal"] {
            try FileManager.default.copyItem(atPath: path + suffix, toPath: copy + suffix)
        }
        let other = try StoreFile.open(path: copy, schema: .sample())
        try other.insert("Bob")
        #expect(try other.names() == ["Ann", "Bob"])
        #expect(try store.names() == ["Ann"])
    }

    @Test("opening a file that is not a store is a typed error")
    func notStores() throws {
        try Data("garbage, and more of it".utf8).write(to: URL(filePath: path))
        #expect(error { _ = try open() }?.code == .notAStore)
        #expect(
            error { _ = try StoreFile.open(path: folder.path, schema: .sample()) }?.code
                == .notAStore)
        let missing = folder["missing/sample.store"]
        #expect(
            error { _ = try StoreFile.open(path: missing, schema: .sample()) }?.code
                == .storageFailed)
        #expect(error { _ = try StoreFile.open(path: "", schema: .sample()) } != nil)
        #expect(try folder.fileNames == ["sample.store"])
    }

    @Test(
        "a store file of another user is refused, unless the store is shared",
        .enabled(if: getuid() == 0))
    func otherUsers() throws {
        _ = try open()
        #expect(chown(path, 12_345, 12_345) == 0)
        #expect(error { _ = try open() }?.code == .permissionDenied)
        #expect(try open { $0.socketMode = 0o660 }.studentCount() == 0)
    }

    @Test("a program that does not share the store file makes opening it fail in time")
    func inUse() throws {
        let other = try Store.open(path: path, schema: .sample())
        let failure = error { _ = try open { $0.waitTimeMax = .milliseconds(200) } }
        #expect(failure?.code == .storeInUse)
        withExtendedLifetime(other) {}
    }

    @Test("a store file whose path is too long for a socket has its socket in the runtime folder")
    func longPaths() throws {
        let long = folder[String(repeating: "f", count: 120)]
        try FileManager.default.createDirectory(atPath: long, withIntermediateDirectories: false)
        let path = "\(long)/sample.store"
        let store = try StoreFile.open(path: path, schema: ObjectStoreProcessSchema.schema())
        let process = try StoreProcess(opening: path)
        #expect(try process("owner") == "0")
        #expect(try process("insert Ann") == "saved")
        #expect(
            try store.count(.count(entityName: "Entry", predicate: nil), QueryParameters()) == 1)
    }

    @Test("the default store file is in the folder of the program's data")
    func defaultPath() throws {
        let home = folder["home"]
        #expect(
            StorePath.defaultStore(program: "Notes", environment: ["HOME": home])
                == "\(home)/.local/share/Notes/default.store")
        let data = folder["data"]
        let path = StorePath.defaultStore(
            program: "Notes", environment: ["HOME": home, "XDG_DATA_HOME": data])
        #expect(path == "\(data)/Notes/default.store")
        #expect(!FileManager.default.fileExists(atPath: data))
        try StorePath.createFolder(of: path)
        try StorePath.createFolder(of: path)
        #expect(FileManager.default.fileExists(atPath: "\(data)/Notes"))
    }

    @Test("opening a missing store file for reading only does not create it")
    func missingForReading() throws {
        var options = StoreFileOptions()
        options.client.isReadOnly = true
        let path = folder["none.store"]
        let error = #expect(throws: LarderError.self) {
            try StoreFile.open(path: path, schema: .sample(), options: options)
        }
        #expect(error?.code == .storageFailed)
        #expect("\(try #require(error))".contains("reading only"))
        #expect(try folder.fileNames == [])
    }

    // MARK: Schemas

    private static let added = #", { "name": "email", "type": "string", "optional": true }"#

    @Test("opening a store file with another schema migrates it and serves the former schema")
    func inferredMigration() throws {
        let former = try open()
        try former.insert("Ann")
        let store = try open(.sample(Self.added, version: "2.0.0"))
        #expect(store.schema.entity(named: "Student")?.property(named: "email") != nil)
        try store.insert("Bob")
        #expect(try former.names() == ["Ann", "Bob"])
    }

    @Test("a next owner with a former schema leaves the store file unchanged")
    func formerSchema() throws {
        try open().insert("Ann")
        try open(.sample(Self.added, version: "2.0.0")).insert("Bob")
        try open().insert("Eve")
        let store = try open(.sample(Self.added, version: "2.0.0")) { $0.client.isReadOnly = true }
        #expect(try store.names() == ["Ann", "Bob", "Eve"])
    }

    @Test("opening a store file for reading only does not migrate it")
    func readOnlyMigration() throws {
        _ = try open()
        let failure = error {
            _ = try open(.sample(Self.added, version: "2.0.0")) { $0.client.isReadOnly = true }
        }
        #expect(failure?.code == .schemaMismatch)
    }

    @Test("a migration that cannot be inferred is refused, and the store file is unchanged")
    func refusedMigration() throws {
        try open().insert("Ann")
        let needed = #", { "name": "email", "type": "string" }"#
        let failure = error { _ = try open(.sample(needed, version: "2.0.0")) }
        #expect(failure?.code == .migrationRefused)
        #expect(try open().names() == ["Ann"])
    }

    @Test("saves to a store file leave one outcome of a save in it, also after one that failed")
    func outcomes() throws {
        do {
            let store = try open()
            for number in 1...50 {
                try store.insert("student \(number)")
                let unknown = Change.insert(
                    PersistentIdentifier(temporary: "t", entityName: "Nobody"), values: [:])
                if number % 10 == 0 {
                    #expect(error { _ = try store.save(ChangeSet([unknown])) } != nil)
                }
            }
        }
        // A thread that receives the feed may hold the store for a moment.
        var opened: Store?
        _ = eventually {
            opened = try? Store.open(path: path, schema: .sample())
            return opened != nil
        }
        let writer = try #require(try opened?.makeWriter() as? Writer)
        defer { writer.close() }
        let statement = try #require(writer.statements).connection.prepare(
            "SELECT count(*) FROM _outcome")
        #expect(try statement.step())
        #expect(statement.int64(at: 0) == 1)
    }

    @Test("a migration in stages with code changes the objects of a store file")
    func stages() throws {
        try open().insert("Ann", "Bob")
        let schemas = [
            try Schema.sample(), try .sample(Self.added, version: "2.0.0"),
            try .sample(#", { "name": "email", "type": "string" }"#, version: "3.0.0"),
        ]
        let migration = try StagedMigration([
            .lightweight(from: schemas[0], to: schemas[1]),
            .custom(from: schemas[1], to: schemas[2]) { client in
                let store = try ClientStore(client)
                #expect(try store.names() == ["Ann", "Bob"])
                try client.updateAll(
                    "Student", expressions: ["email": "name"], where: nil)
            },
        ])
        let store = try open(schemas[2]) { $0.migration = migration }
        let query = Query.count(entityName: "Student", predicate: .format("email == name"))
        #expect(try store.count(query, QueryParameters()) == 2)
    }
}
