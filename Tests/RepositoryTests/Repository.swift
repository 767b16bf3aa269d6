import FoundationEssentials

/// The working tree as the rules see it: its own source files, and their lines.
enum Repository {
    struct File {
        /// Relative to the top of the repository, with `/`.
        let path: String
        let lines: [Substring]
    }

    /// The folder that holds Package.swift, found from this file's place.
    static let top = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().path

    /// Every file with one of the endings below the given folders, generated code left out.
    static func files(under folders: [String], endings: [String]) throws -> [File] {
        try folders.flatMap { folder -> [File] in
            guard FileManager.default.fileExists(atPath: "\(top)/\(folder)") else { return [] }
            return try FileManager.default.subpathsOfDirectory(atPath: "\(top)/\(folder)")
                .filter { path in endings.contains { path.hasSuffix($0) } }
                .map { "\(folder)/\($0)" }
                .filter { !isFolder($0) }
                .filter { !$0.hasPrefix("Sources/CLarderProto/") && !$0.contains(".build/") }
                .filter { !$0.contains("/Generated/") }
                .sorted()
                .map(read)
        }
    }

    /// An ending of no letters takes in the folders too.
    private static func isFolder(_ path: String) -> Bool {
        var isDirectory = false
        return FileManager.default.fileExists(atPath: "\(top)/\(path)", isDirectory: &isDirectory)
            && isDirectory
    }

    /// Whether there is a file or a folder; the path may step upwards.
    static func exists(_ path: String) -> Bool {
        FileManager.default.fileExists(atPath: "\(top)/\(path)")
    }

    /// The sources of the bench; beside them lie its builds, with the files of all its peers.
    static let benchmarks = [
        "Benchmarks/Sources", "Benchmarks/Peers/C", "Benchmarks/Peers/Sources",
    ]

    static func swiftFiles() throws -> [File] {
        try files(under: ["Sources", "Tests"] + benchmarks, endings: [".swift"])
            + ["", "Benchmarks/", "Benchmarks/Peers/"].map { try read("\($0)Package.swift") }
    }

    static func read(_ path: String) throws -> File {
        let data = try Data(contentsOf: URL(filePath: "\(top)/\(path)"))
        let text = String(decoding: data, as: UTF8.self)
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        return File(path: path, lines: lines)
    }
}
