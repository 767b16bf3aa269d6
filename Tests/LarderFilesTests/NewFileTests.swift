import FoundationEssentials
import Glibc
import LarderFiles
import LarderModel
import Testing

@Suite("A new file")
struct NewFileTests {
    private let folder = TemporaryFolder()

    /// A folder that is removed with the test.
    private final class TemporaryFolder {
        let path = "/tmp/larder-files-\(UUID().uuidString)"

        init() {
            try? FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: false)
        }

        deinit { try? FileManager.default.removeItem(atPath: path) }
    }

    private var path: String { "\(folder.path)/file" }

    private var files: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []).sorted()
    }

    private func code(_ body: () throws(LarderError) -> Void) -> ErrorCode? {
        do throws(LarderError) { try body() } catch { return error.code }
        return nil
    }

    @Test("a new file has no name until it is published with its contents")
    func unnamed() throws {
        let file = try NewFile(at: path)
        #expect(file.temporaryPath == nil)
        try file.write([9, 9, 9, 9], at: 0)
        try file.removeContents()
        try file.write([3, 4], at: 2)
        try file.write([1, 2], at: 0)
        #expect(try file.read(10, at: 1) == [2, 3, 4])
        #expect(files.isEmpty)
        try file.sync()
        try file.publish()
        #expect(files == ["file"])
        #expect(try Data(contentsOf: URL(filePath: path)) == Data([1, 2, 3, 4]))
    }

    @Test("a new file with a temporary name is renamed, or removed with its log")
    func named() throws {
        let published = try NewFile(at: path, isNamed: true)
        #expect(files.count == 1 && files[0].hasPrefix(".larder-new-"))
        try published.write([1], at: 0)
        try published.publish()
        #expect(published.temporaryPath == nil)
        #expect(files == ["file"])
        do {
            let other = try NewFile(at: path + "2", isNamed: true)
            let temporary = try #require(other.temporaryPath)
            try Data([1]).write(to: URL(filePath: temporary + "-wal"))
            #expect(files.count == 3)
        }
        #expect(files == ["file"])
    }

    @Test("another type of file in place of the temporary file is an error that names it")
    func obstacle() throws {
        let temporary: String
        do { temporary = try #require(NewFile(at: path, isNamed: true).temporaryPath) }
        let makers: [(String, (String) -> Int32)] = [
            ("a named pipe", { mkfifo($0, 0o600) }), ("a folder", { mkdir($0, 0o700) }),
            ("a symbolic link", { symlink("/tmp/nothing", $0) }),
        ]
        for (text, make) in makers {
            #expect(make(temporary) == 0)
            let error = #expect(throws: LarderError.self) {
                try NewFile(at: path, isNamed: true)
            }
            #expect(error?.code == .storageFailed)
            #expect(error?.message.hasPrefix("\(temporary) is \(text), and ") == true)
            #expect(remove(temporary) == 0)
        }
        #expect(try NewFile(at: path, isNamed: true).temporaryPath == temporary)
    }

    @Test("a new file does not replace a file, even one that was created after it")
    func existing() throws {
        for isNamed in [false, true] {
            let file = try NewFile(at: path, isNamed: isNamed)
            try Data([7]).write(to: URL(filePath: path))
            #expect(code { () throws(LarderError) in try file.publish() } == .fileExists)
            #expect(
                code { () throws(LarderError) in
                    _ = try NewFile(at: path, isNamed: isNamed)
                } == .fileExists)
            #expect(try Data(contentsOf: URL(filePath: path)) == Data([7]))
            try FileManager.default.removeItem(atPath: path)
        }
    }

    @Test("two writers cannot write a new file under one temporary name")
    func concurrent() throws {
        let first = try NewFile(at: path, isNamed: true)
        #expect(
            code { () throws(LarderError) in
                _ = try NewFile(at: path, isNamed: true)
            } == .unavailable)
        try first.publish()
    }

    @Test("a new file at an impossible path is a typed error")
    func paths() {
        for (path, expected) in [
            ("", .storageFailed), ("a\0b", .storageFailed), ("\(folder.path)/", .storageFailed),
            ("\(folder.path)/none/file", .storageFailed), (folder.path, .fileExists),
        ] as [(String, ErrorCode)] {
            for isNamed in [false, true] {
                #expect(
                    code { () throws(LarderError) in
                        try NewFile(at: path, isNamed: isNamed).publish()
                    } == expected, "\(path)")
            }
        }
        #expect(files.isEmpty)
    }
}
