import FoundationEssentials
import Glibc
import Testing

/// What this process has in use.
struct Resources {
    var descriptors: Int
    var memoryFolders: Int
    var residentBytes: Int
    var threads: Int

    static func now() throws -> Resources {
        let files = FileManager.default
        let status = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
        let pages = status.split(separator: " ").dropFirst().first.flatMap { Int($0) }
        return Resources(
            descriptors: try files.contentsOfDirectory(atPath: "/proc/self/fd").count,
            memoryFolders: try files.contentsOfDirectory(atPath: "/dev/shm").count,
            residentBytes: try #require(pages) * Int(getpagesize()),
            threads: try files.contentsOfDirectory(atPath: "/proc/self/task").count)
    }
}
