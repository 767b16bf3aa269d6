import Glibc
import LarderModel
import LarderQuery
import Testing

@testable import LarderStore

/// A library on disk, and a folder for its copies.
final class CopyFixture {
    let folder: MemoryFolder
    let library: Library

    init(rowCount: Int = 2_000) throws {
        folder = try MemoryFolder()
        library = try Library(path: folder.storePath)
        for start in stride(from: 0, to: rowCount, by: 500) {
            try save((start..<min(start + 500, rowCount)).map { insert("name \($0)") })
        }
    }

    deinit {
        for name in files where !name.hasPrefix("store") { unlink("\(folder.path)/\(name)") }
    }

    /// The names of the files in the folder.
    var files: [String] {
        guard let stream = opendir(folder.path) else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    func path(_ name: String) -> String { "\(folder.path)/\(name)" }

    func insert(_ name: String) -> Change {
        .insert(.new(name, "Category"), values: ["name": .string(name)])
    }

    @discardableResult
    func save(_ changes: [Change]) throws -> SaveResult {
        try #require(library.writer.save([ChangeSet(changes)]).first).get()
    }

    func copy() throws -> any StoreCopy {
        try library.writer.makeCopy(in: folder.path).get()
    }

    /// All steps of a copy, with a closure between them.
    @discardableResult
    func complete(_ copy: any StoreCopy, between: () throws -> Void = {}) throws -> Int {
        var steps = 1
        while !(try copy.step(timeMax: .zero)) {
            steps += 1
            try #require(steps < 10_000)
            try between()
        }
        return steps
    }

    /// Writes a verified copy to a file, as a client does.
    func write(_ copy: any StoreCopy, to path: String) throws {
        var bytes: [UInt8] = []
        while true {
            let part = try copy.read(100_000, at: bytes.count)
            if part.isEmpty { break }
            bytes += part
        }
        #expect(bytes.count == copy.byteCount)
        var checksum = Checksum()
        checksum.append(bytes)
        try Self.write(bytes + BackupTrailer.bytes(checksum), to: path)
    }

    /// A backup of the library.
    func backup(_ name: String = "backup") throws -> String {
        let copy = try copy()
        try complete(copy)
        _ = try copy.verify(budget: ReadBudget())
        try write(copy, to: path(name))
        return path(name)
    }

    static func write(_ bytes: [UInt8], to path: String) throws {
        let file = try #require(fopen(path, "w"))
        defer { fclose(file) }
        try #require(fwrite(bytes, 1, bytes.count, file) == bytes.count)
    }

    static func bytes(of path: String) throws -> [UInt8] {
        let file = try #require(fopen(path, "r"))
        defer { fclose(file) }
        fseek(file, 0, SEEK_END)
        var bytes = [UInt8](repeating: 0, count: ftell(file))
        rewind(file)
        try #require(fread(&bytes, 1, bytes.count, file) == bytes.count)
        return bytes
    }
}
