import Foundation
import LarderClient
import LarderModel
import LarderQuery
import Synchronization
import TestSupport
import Testing

@testable import LarderObjects

/// The schema of `ObjectStoreProcess`.
enum ObjectStoreProcessSchema {
    static func schema(_ extra: String = "") throws -> Schema {
        try SchemaFile.schema(
            parsing: """
                { "version": "1.0.0", "entities": [ { "name": "Entry", "attributes": [
                    { "name": "name", "type": "string" },
                    { "name": "count", "type": "int64", "default": 0 },
                    { "name": "text", "type": "string", "optional": true }\(extra) ] } ] }
                """)
    }
}

extension ObjectStore {
    fileprivate func insertEntry(_ name: String) throws {
        let entry = PersistentIdentifier(temporary: "e", entityName: "Entry")
        _ = try save(ChangeSet([.insert(entry, values: ["name": .string(name)])]))
    }

    fileprivate func entryCount() throws -> Int64 {
        try count(.count(entityName: "Entry", predicate: nil), QueryParameters())
    }
}

@Suite("Owners of store files, in several processes")
struct OwnerTests {
    private let folder: TemporaryFolder
    private let path: String

    init() throws {
        folder = try TemporaryFolder()
        path = folder["shared.store"]
    }

    private func open(_ extra: String = "") throws -> ClientStore {
        try StoreFile.open(path: path, schema: ObjectStoreProcessSchema.schema(extra))
    }

    @Test("a second process that opens a store file joins the first one and sees its commits")
    func joining() async throws {
        let process = try StoreProcess(opening: path)
        #expect(try process("owner") == "1")
        let store = try open()
        #expect(!StoreFile.isOwner(ofStoreAt: path))
        let (numbers, continuation) = AsyncStream<Int64>.makeStream()
        let observation = store.observeCommits { continuation.yield($0.id) }
        #expect(try process("insert Ann") == "saved")
        for await number in numbers {
            #expect(number == 1)
            break
        }
        #expect(try store.entryCount() == 1)
        withExtendedLifetime(observation) {}
    }

    @Test("when the owner of a store file is killed, another process becomes the owner")
    func killedOwner() async throws {
        let process = try StoreProcess(opening: path)
        let store = try open()
        let (numbers, continuation) = AsyncStream<Int64>.makeStream()
        let observation = store.observeCommits { continuation.yield($0.id) }
        try store.insertEntry("before")
        process.kill()
        try store.insertEntry("after")
        #expect(StoreFile.isOwner(ofStoreAt: path))
        #expect(try store.entryCount() == 2)
        var received: [Int64] = []
        for await number in numbers {
            received.append(number)
            if received.count == 2 { break }
        }
        #expect(received == [1, 2])
        let next = try StoreProcess(opening: path)
        #expect(try next("owner") == "0")
        #expect(try next("names").hasPrefix("2 2 "))
        withExtendedLifetime(observation) {}
    }

    @Test("when the owner of a store file ends, the next process can open it at once")
    func endedOwner() throws {
        let process = try StoreProcess(opening: path)
        let store = try open()
        #expect(try process("insert Ann") == "saved")
        try process.end()
        #expect(try store.entryCount() == 1)
        #expect(StoreFile.isOwner(ofStoreAt: path))
    }

    @Test("a process that joins with another schema makes the owner migrate the store")
    func servedMigration() throws {
        let process = try StoreProcess(opening: path)
        #expect(try process("insert Ann") == "saved")
        let store = try open(#", { "name": "size", "type": "int64", "default": 3 }"#)
        let query = Query.count(entityName: "Entry", predicate: .format("size == 3"))
        #expect(try store.count(query, QueryParameters()) == 1)
        #expect(try process("owner") == "1")
        #expect(try process("insert Bob") == "saved")
        #expect(try store.count(query, QueryParameters()) == 2)
    }

    @Test("copying a store file in the owner's process does not let another process own it")
    func copiedByOwner() throws {
        let store = try open()
        try store.insertEntry("Ann")
        // Closing the file ends the process's locks of it, SQLite's included.
        _ = try Data(contentsOf: URL(filePath: path))
        let process = try StoreProcess(opening: path)
        #expect(try process("owner") == "0")
        #expect(try process("insert Bob") == "saved")
        #expect(try store.entryCount() == 2)
    }

    @Test("store files that are removed after their owner was killed are created again")
    func removedFiles() throws {
        let process = try StoreProcess(opening: path)
        #expect(try process("insert Ann") == "saved")
        process.kill()
        for suffix in ["", "-wal"] { try FileManager.default.removeItem(atPath: path + suffix) }
        #expect(try open().entryCount() == 0)
    }

    @Test("larderd is the owner of a store file that it serves")
    func daemon() throws {
        _ = try open()
        let socket = folder["daemon.socket"]
        let daemon = try StoreProcess(
            "larderd", ["--store", path, "--socket", socket], reading: true)
        while try !daemon.line().contains("serving") {}
        let store = try open()
        #expect(!StoreFile.isOwner(ofStoreAt: path))
        #expect(store.client.server.name.hasPrefix("larderd"))
        try store.insertEntry("Ann")
        let named = try StoreFile.open(
            path: socket, schema: ObjectStoreProcessSchema.schema())
        #expect(try named.entryCount() == 1)
        daemon.kill()
        #expect(try store.entryCount() == 1)
        #expect(StoreFile.isOwner(ofStoreAt: path))
        #expect(throws: LarderError.self) {
            try StoreFile.open(path: socket, schema: ObjectStoreProcessSchema.schema())
        }
    }
}
