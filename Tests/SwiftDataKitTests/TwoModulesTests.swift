import Foundation
import TestSupport
import Testing

/// A process with SwiftData and one with Core Data on one file, which either of them may serve.
@Suite("One file for SwiftData and Core Data")
struct TwoModulesTests {
    /// Two processes on one file. They end with it.
    private final class Pair {
        let models: StoreProcess
        let objects: StoreProcess
        private let folder: URL

        /// - Parameter isServedByModels: Whether the process with SwiftData opens the file first.
        init(isServedByModels: Bool) throws {
            folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            let path = folder.appending(path: "notes.store").path
            var started: [String: StoreProcess] = [:]
            for kind in isServedByModels ? ["swiftdata", "coredata"] : ["coredata", "swiftdata"] {
                let process = try StoreProcess("ModelProcess", [kind, path])
                let line = try process.line()
                try #require(line == "open", "\(line)")
                started[kind] = process
            }
            models = try #require(started["swiftdata"])
            objects = try #require(started["coredata"])
        }

        deinit {
            models.kill()
            objects.kill()
            try? FileManager.default.removeItem(at: folder)
        }

        var both: [(one: StoreProcess, other: StoreProcess)] {
            [(models, objects), (objects, models)]
        }
    }

    @Test(
        "each process finds what the other saves, by a fetch and by the URI",
        arguments: [true, false])
    func saves(_ isServedByModels: Bool) throws {
        let pair = try Pair(isServedByModels: isServedByModels)
        for (index, (one, other)) in pair.both.enumerated() {
            let uri = try one("insert note\(index)")
            #expect(uri.hasPrefix("x-coredata://"))
            #expect(try other("title \(uri)") == "note\(index)")
            #expect(try one("set note\(index) 7") == "saved")
            #expect(try other("list").contains("note\(index):7"))
            #expect(try other("set note\(index) 9") == "saved")
            #expect(try one("list").contains("note\(index):9"))
        }
        #expect(try pair.models("list") == "note0:9 note1:9")
        #expect(try pair.objects("list") == "note0:9 note1:9")
        #expect(try pair.objects("delete note0") == "saved")
        #expect(try pair.models("set note0 1") == "error there is no note note0")
        #expect(try pair.models("delete note1") == "saved")
        #expect(try pair.objects("list") == "")
    }

    @Test(
        "each process has the transactions of the other in its history", arguments: [true, false])
    func history(_ isServedByModels: Bool) throws {
        let pair = try Pair(isServedByModels: isServedByModels)
        _ = try pair.models("insert a")
        _ = try pair.objects("insert b")
        _ = try pair.objects("set a 1")
        _ = try pair.models("delete b")
        let expected = "swiftdata:insert coredata:insert coredata:update swiftdata:delete"
        #expect(try pair.models("history") == expected)
        #expect(try pair.objects("history") == expected)
    }

    @Test(
        "each process is notified of the commits of the other, and merges them",
        arguments: [true, false])
    func merges(_ isServedByModels: Bool) throws {
        let pair = try Pair(isServedByModels: isServedByModels)
        for name in ["a", "b", "c"] { _ = try pair.models("insert \(name)") }
        for (index, (one, other)) in pair.both.enumerated() {
            #expect(try other("hold") == (index == 0 ? "3" : "2"))
            let before = try #require(Int(try other("announced")))
            #expect(try one("set a \(index + 5)") == "saved")
            #expect(try eventually { try (Int(other("announced")) ?? 0) > before })
            let rest = index == 0 ? "b:0 c:0" : "b:0"
            #expect(try eventually { try other("held") == "a:\(index + 5) \(rest)" })
            let deleted = index == 0 ? "c" : "b"
            #expect(try one("delete \(deleted)") == "saved")
            let gone = index == 0 ? "a:5 b:0 gone" : "a:6 gone"
            #expect(try eventually { try other("held") == gone })
        }
        #expect(try pair.models("list") == "a:6")
    }
}
