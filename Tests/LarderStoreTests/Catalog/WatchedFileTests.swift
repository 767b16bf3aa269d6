import FoundationEssentials
import Glibc
import LarderModel
import LarderQuery
import Testing

@testable import LarderStore

@Suite("The file of an open store")
struct WatchedFileTests {
    private let folder: MemoryFolder
    private let path: String
    private let store: Store
    private let writer: any StoreWriter

    init() throws {
        folder = try MemoryFolder()
        path = folder.storePath
        let schema = try Schema(entities: [
            Entity(name: "Note", attributes: [Attribute(name: "text", type: .string)])
        ])
        store = try Store.open(path: path, schema: schema)
        writer = try store.makeWriter()
    }

    private func insert() throws -> SaveResult {
        try writer.save([ChangeSet([.insert(.new("n", "Note"), values: ["text": "x"])])])[0].get()
    }

    private func refusal() throws -> LarderError {
        try #require(#expect(throws: LarderError.self) { try insert() })
    }

    private func write(_ text: String, to path: String) throws {
        try Data(text.utf8).write(to: URL(filePath: path))
    }

    @Test(
        "an open store is not written while its file or log has another path",
        arguments: ["", "-wal"])
    func renamed(suffix: String) throws {
        let (file, away) = (path + suffix, "\(folder.path)/away")
        defer { unlink(away) }
        #expect(try insert().transaction == 1)
        #expect(rename(file, away) == 0)
        for _ in 0..<2 {
            let error = try refusal()
            #expect(error.code == .storageFailed)
            #expect(error.message.hasSuffix("(was removed or renamed)"))
            #expect(error.message.contains("\(file) is open, but not at its path"))
            #expect(error.hint != nil)
        }
        try write("other", to: file)
        #expect(try refusal().message.hasSuffix("(was replaced by another file)"))
        #expect(rename(away, file) == 0)
        #expect(try insert().inserted.map(\.permanentKey) == [2])
        #expect(try store.makeReader().check(budget: ReadBudget()).findings == [])
    }

    @Test("an open store is not written while its file has two names")
    func linked() throws {
        let other = "\(folder.path)/other"
        defer { unlink(other) }
        #expect(link(path, other) == 0)
        #expect(try refusal().message.contains("\(path) has another name (a hard link)"))
        unlink(other)
        #expect(try insert().inserted.map(\.permanentKey) == [1])
    }

    @Test("an open store whose file was removed is read, and no reader opens another file")
    func readers() throws {
        let inserted = try insert().inserted
        let reader = try store.makeReader()
        unlink(path)
        func read() throws -> Int {
            try reader.objects(inserted, properties: nil, budget: ReadBudget())[0].rowCount
        }
        #expect(try read() == 1)
        #expect(throws: LarderError.self) { try store.makeReader() }
        try write("", to: path)
        let error = #expect(throws: LarderError.self) { try store.makeReader() }
        #expect(error?.message.hasSuffix("(was replaced by another file)") == true)
        #expect(try refusal().code == .storageFailed)
        #expect(try read() == 1)
    }
}

@Suite("Opening a store file that was linked or copied")
struct CopiedStoreTests {
    private let folder: MemoryFolder
    private let path: String
    private let copy: String

    init() throws {
        folder = try MemoryFolder()
        path = folder.storePath
        copy = "\(folder.path)/copy"
        let schema = try Schema(entities: [Entity(name: "Note", attributes: [])])
        _ = try Store.open(path: path, schema: schema)
    }

    private func open(_ path: String) throws -> (identifier: UUID, warning: String?) {
        let store = try Store.open(path: path, schema: nil)
        return (store.storeDescription.identifier, store.warning)
    }

    private func copyFile() throws {
        try Data(contentsOf: URL(filePath: path)).write(to: URL(filePath: copy))
    }

    @Test("a store file with two names is refused at both")
    func linked() throws {
        #expect(link(path, copy) == 0)
        defer { unlink(copy) }
        for name in [path, copy] {
            let error = #expect(throws: LarderError.self) { try open(name) }
            #expect(error?.code == .storageFailed)
            #expect(error?.message == "\(name) has another name (a hard link)")
        }
    }

    @Test("a renamed store file is the same store")
    func renamed() throws {
        #expect(rename(path, copy) == 0)
        defer { unlink(copy) }
        #expect(try open(copy).warning == nil)
    }

    @Test("a copy of a store file is reported each time until it gets its own identity")
    func copied() throws {
        try copyFile()
        defer { unlink(copy) }
        for _ in 0..<2 {
            #expect(try open(copy).warning?.contains("\(copy) is a copy of \(path)") == true)
        }
        #expect(try open(path).warning == nil)
        let original = try open(path).identifier
        let options = StoreOptions(assignsNewIdentifier: true)
        let assigned = try Store.open(path: copy, schema: nil, options: options).storeDescription
        #expect(assigned.identifier != original)
        let reopened = try open(copy)
        #expect(reopened.identifier == assigned.identifier && reopened.warning == nil)
        #expect(try open(path).identifier == original)
    }

    @Test("a store file that was moved to another file system or restored is reported once")
    func replaced() throws {
        try copyFile()
        #expect(rename(copy, path) == 0)
        #expect(try open(path).warning?.contains("is another file than the one") == true)
        #expect(try open(path).warning == nil)
    }
}
