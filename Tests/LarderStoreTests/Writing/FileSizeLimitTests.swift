import Glibc
import LarderModel
import Testing

@testable import LarderStore

@Suite("a full disk")
struct FileSizeLimitTests {
    /// In a process of its own, since the limit is one of the whole process.
    @Test("fails writes with a clear error, loses nothing, and is forgotten once there is room")
    func fileSizeLimit() async {
        await #expect(processExitsWith: .success) {
            signal(SIGXFSZ, SIG_IGN)
            let library = try Library()
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
}
