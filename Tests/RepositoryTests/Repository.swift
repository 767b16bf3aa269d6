import FoundationEssentials

/// The source files of the working tree, without generated code.
enum Repository {
    struct File {
        /// Relative to the top of the repository, with `/`.
        let path: String
        let lines: [Substring]
    }

    /// The folder that contains Package.swift, relative to this file.
    static let top = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().path

    /// All files in the folders that have one of the endings, sorted, without generated code.
    static func files(under folders: [String], endings: [String]) throws -> [File] {
        try folders.flatMap { folder -> [File] in
            guard FileManager.default.fileExists(atPath: "\(top)/\(folder)") else { return [] }
            return try FileManager.default.subpathsOfDirectory(atPath: "\(top)/\(folder)")
                .filter { path in endings.contains { path.hasSuffix($0) } }
                .map { "\(folder)/\($0)" }
                .filter { !isFolder($0) }
                .filter { !$0.hasPrefix("Sources/CLarderProto/") && !$0.contains(".build/") }
                .filter { !$0.contains("/Generated/") && !$0.contains("/dist/") }
                .filter { !$0.hasSuffix(".pb.go") }
                .sorted()
                .map(read)
        }
    }

    /// An empty ending matches folders too.
    private static func isFolder(_ path: String) -> Bool {
        var isDirectory = false
        return FileManager.default.fileExists(atPath: "\(top)/\(path)", isDirectory: &isDirectory)
            && isDirectory
    }

    /// Whether a file or folder exists. The path may contain `..`.
    static func exists(_ path: String) -> Bool {
        FileManager.default.fileExists(atPath: "\(top)/\(path)")
    }

    /// The sources of the benchmarks, without their build folders.
    static let benchmarks = [
        "Benchmarks/Sources", "Benchmarks/Peers/C", "Benchmarks/Peers/Sources",
    ]

    /// The package of the pages, without its build folder.
    static let browser = ["Browser/Sources", "Browser/Tests"]

    static func swiftFiles() throws -> [File] {
        try files(under: ["Sources", "Tests"] + benchmarks + browser, endings: [".swift"])
            + ["", "Benchmarks/", "Benchmarks/Peers/", "Browser/"].map {
                try read("\($0)Package.swift")
            }
    }

    static func read(_ path: String) throws -> File {
        let data = try Data(contentsOf: URL(filePath: "\(top)/\(path)"))
        let text = String(decoding: data, as: UTF8.self)
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        return File(path: path, lines: lines)
    }
}
