import Glibc
import LarderModel
import Testing

@testable import LarderStore

@Suite("a full disk")
struct FileSizeLimitTests {
    // In separate processes, since the limit applies to the whole process.

    @Test("a full disk fails writes to a store in memory and loses nothing")
    func inMemory() async {
        await #expect(processExitsWith: .success) { try Self.fillUp(Library()) }
    }

    @Test("a full disk fails writes and loses nothing also if each commit is synced")
    func onDisk() async {
        await #expect(processExitsWith: .success) {
            let folder = try MemoryFolder()
            try Self.fillUp(Library(path: folder.storePath))
        }
    }

    private static func fillUp(_ library: Library) throws {
        signal(SIGXFSZ, SIG_IGN)
        try library.insert("Category", ["name": "kept"])
        var limit = rlimit(rlim_cur: 512 << 10, rlim_max: rlim_t.max)
        try #require(setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0)
        let large = Value.string(String(repeating: "x", count: 600_000))
        for _ in 0..<2 {
            let error = try library.refusal(
                .insert(.new("a", "Category"), values: ["name": large]))
            try #require(error.code == .storageFull)
        }
        try #require(try library.count("Category") == 1)
        limit.rlim_cur = rlim_t.max
        try #require(setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0)
        try library.insert("Category", ["name": large])
        try #require(try library.count("Category") == 2)
        try #require(try library.rows("PRAGMA integrity_check") == [[.text("ok")]])
    }
}
