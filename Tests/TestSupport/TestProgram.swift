import FoundationEssentials

/// The programs of this package that tests start as other processes.
public enum TestProgram {
    public struct Missing: Error, CustomStringConvertible {
        public let description: String
    }

    /// The path of a built program.
    ///
    /// - Parameter folder: The folder of the programs; by default that of the running tests.
    /// - Throws: `Missing`, which says how to build the program.
    public static func path(of name: String, in folder: String? = nil) throws -> String {
        let folder = try folder ?? testFolder()
        let path = "\(folder)/\(name)"
        guard FileManager.default.isExecutableFile(atPath: path) else {
            throw Missing(
                description: "the program \(name) is not in \(folder); `swift build` builds it")
        }
        return path
    }

    private static func testFolder() throws -> String {
        let executable = try FileManager.default.destinationOfSymbolicLink(
            atPath: "/proc/self/exe")
        return URL(filePath: executable).deletingLastPathComponent().path
    }
}
