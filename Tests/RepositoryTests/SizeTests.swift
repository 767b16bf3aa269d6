import Testing

@Suite("Sizes")
struct SizeTests {
    static let fileLinesMax = 500
    static let functionLinesMax = 70
    static let lineColumnsMax = 100
    static let folderFilesMax = 25

    @Test("no Swift file is longer than 500 lines")
    func files() throws {
        for file in try Repository.swiftFiles() {
            let count = file.lines.count
            #expect(count <= Self.fileLinesMax, "\(file.path): \(count) lines")
        }
    }

    @Test("no line is longer than 100 columns")
    func lines() throws {
        let files =
            try Repository.swiftFiles() + Repository.files(under: ["scripts"], endings: [""])
            + Repository.files(under: Repository.benchmarks, endings: [".c", ".h"])
            + Repository.files(
                under: ["Clients"], endings: [".py", ".go", ".ts", ".c", ".h", "build", "generate"])
            + Repository.files(under: ["Plugins"], endings: [".swift"])
            + Repository.files(under: ["Examples"], endings: [".swift"])
            // It has names of symbols, which a plugin writes.
            .filter { !$0.path.hasSuffix("/ManagedAccessors.swift") }
        for file in files {
            for (number, line) in file.lines.enumerated() where line.count > Self.lineColumnsMax {
                Issue.record("\(file.path):\(number + 1): \(line.count) columns")
            }
        }
    }

    @Test("no folder contains more than 25 source files")
    func folders() throws {
        let files = try Repository.files(
            under: ["Sources", "Tests"] + Repository.browser,
            endings: [".swift", ".script", ".py", ".bats"])
        let folders = Dictionary(grouping: files) { file in
            file.path.split(separator: "/").dropLast().joined(separator: "/")
        }
        for (folder, files) in folders {
            #expect(files.count <= Self.folderFilesMax, "\(folder): \(files.count) files")
        }
    }

    @Test("no function is longer than 70 lines")
    func functions() throws {
        for file in try Repository.swiftFiles() {
            for (start, count) in functions(in: file.lines) where count > Self.functionLinesMax {
                Issue.record("\(file.path):\(start + 1): a function of \(count) lines")
            }
        }
    }

    @Test("a function is measured from its name to its closing brace")
    func measuring() {
        let lines: [Substring] = ["struct A {", "    func b() {", "        c()", "    }", "}"]
        #expect(functions(in: lines).map { [$0.start, $0.count] } == [[1, 3]])
    }

    /// The functions of a formatted file. A function ends at the first `}` in its own column.
    private func functions(in lines: [Substring]) -> [(start: Int, count: Int)] {
        lines.indices.compactMap { start in
            let line = lines[start]
            let words = line.split(separator: " ")
            let isFunction = words.contains("func") || words.contains { $0.hasPrefix("init(") }
            guard isFunction, !line.contains("//"), !line.hasSuffix("}") else { return nil }
            let closing = line.prefix { $0 == " " } + "}"
            guard let end = lines[(start + 1)...].firstIndex(where: { $0 == closing }) else {
                return nil
            }
            return (start, end - start + 1)
        }
    }
}
