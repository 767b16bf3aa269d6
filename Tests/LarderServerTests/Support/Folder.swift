import FoundationEssentials
import Glibc
import Testing

/// A folder for one test, which is removed with its content when the test ends.
final class Folder {
    let path: String

    init() throws {
        path =
            "\(FileManager.default.temporaryDirectory.path)/larder-\(UUID().uuidString.prefix(8))"
        try #require(mkdir(path, 0o700) == 0)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// The permission bits of a file in it, without following links.
    func mode(of name: String) throws -> UInt32 {
        var status = stat()
        try #require(lstat("\(path)/\(name)", &status) == 0)
        return status.st_mode & 0o7777
    }

    func contains(_ name: String) -> Bool {
        var status = stat()
        return lstat("\(path)/\(name)", &status) == 0
    }
}
