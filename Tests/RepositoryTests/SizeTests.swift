import Testing

@Suite("Sizes")
struct SizeTests {
    static let fileLinesMax = 500
    static let functionLinesMax = 70
    static let lineColumnsMax = 100
    static let folderFilesMax = 25
    static let typeLinesMax = 600

    /// The types that are longer, with all their extensions in their target, and why.
    static let longTypes: [String: String] = [
        "CoreData.NSManagedObject":
            "the members of a class of Core Data",
        "CoreData.NSManagedObjectContext":
            "the members of a class of Core Data",
        "LarderClient.StoreClient":
            "the calls of the client, which one object offers",
        "LarderObjects.ObjectContext":
            "one lock protects its objects, changes and saves",
        "LarderQuery.FormatParser":
            "functions of one grammar, which call each other",
        "LarderQuery.QueryTyper":
            "functions over one tree, which call each other",
        "LarderQuery.ScalarFunction":
            "a table with a row per function, and their bodies",
        "LarderSQL.ChangeSetCheck":
            "one pass over a change set, with the keys that it assigns",
        "LarderSQL.Layout":
            "the names and statements of the store's own tables",
        "LarderSQL.QueryLowering":
            "functions over one tree, which call each other",
        "LarderSQL.SQLWriter":
            "functions over one tree, which call each other",
        "LarderServer.ConnectionHandler":
            "one channel handler performs the actions of a connection",
        "LarderServer.WriteQueue":
            "one lock protects what waits and what is written",
        "LarderStore.Writer":
            "it owns the connection that writes, for each kind of write",
        "LarderWire.MessageBuffer":
            "an extension per message, in the file of the message",
        "SwiftData.Schema":
            "the members and nested types of a class of SwiftData",
    ]

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

    @Test("no type with its extensions in a target is longer than 600 lines, without a reason")
    func types() throws {
        var lengths: [String: Int] = [:]
        for file in try Repository.files(under: ["Sources"], endings: [".swift"]) {
            let target = file.path.split(separator: "/")[1]
            for (name, count) in types(in: file.lines) {
                lengths["\(target).\(name)", default: 0] += count
            }
        }
        for (type, count) in lengths
        where count > Self.typeLinesMax && Self.longTypes[type] == nil {
            Issue.record("\(type): \(count) lines; divide it by what its parts are responsible for")
        }
        for type in Self.longTypes.keys {
            #expect(
                lengths[type, default: 0] > Self.typeLinesMax,
                "\(type) is short enough; remove it from the exceptions")
        }
    }

    @Test("a type is measured with its extensions")
    func measuringTypes() {
        let lines: [Substring] = [
            "package final class A: B {", "    struct C {", "    }", "}", "",
            "extension A.C: D {", "}", "enum E {}", "extension A {", "}",
        ]
        #expect(types(in: lines).map(\.name) == ["A", "A.C", "E", "A"])
        #expect(types(in: lines).map(\.count) == [4, 2, 1, 2])
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

    /// The types and extensions of a formatted file. Each ends at the first `}` in column 1.
    private func types(in lines: [Substring]) -> [(name: String, count: Int)] {
        let keywords: Set<Substring> = [
            "actor", "class", "enum", "extension", "protocol", "struct",
        ]
        return lines.indices.compactMap { start in
            let line = lines[start]
            guard let first = line.first, first.isLetter || first == "@" else { return nil }
            let words = line.split(separator: " ")
            guard let keyword = words.firstIndex(where: keywords.contains),
                !line.contains("import "),
                keyword + 1 < words.count
            else { return nil }
            let name = words[keyword + 1].prefix { $0.isLetter || $0.isNumber || "._".contains($0) }
            if line.hasSuffix("}") { return (String(name), 1) }
            guard let end = lines[start...].firstIndex(of: "}") else { return nil }
            return (String(name), end - start + 1)
        }
    }
}
