import FoundationEssentials
import Glibc
import Testing

/// What this process has in use.
struct Resources {
    var descriptors: Int
    var memoryFolders: Int
    var threads: Int

    static func now() throws -> Resources {
        let files = FileManager.default
        return Resources(
            descriptors: try files.contentsOfDirectory(atPath: "/proc/self/fd").count,
            memoryFolders: try files.contentsOfDirectory(atPath: "/dev/shm").count,
            threads: try files.contentsOfDirectory(atPath: "/proc/self/task").count)
    }
}
