import FoundationEssentials
import Testing

@Suite("The stages of scripts/test")
struct StageTests {
    /// The rows of a table in `scripts/test.d`, as words.
    private static func rows(of name: String) throws -> [[Substring]] {
        try Repository.read("scripts/test.d/\(name)").lines
            .filter { !$0.hasPrefix("#") && !$0.isEmpty }
            .map { $0.split(separator: " ") }
    }

    @Test("each stage of scripts/test has a depth, and a program of its name")
    func programs() throws {
        let rows = try Self.rows(of: "stages")
        #expect(rows.count > 5)
        for row in rows {
            #expect(row.count > 2, "\(row)")
            #expect(["gate", "deep"].contains(row[1]), "\(row[0]): \(row[1])")
            #expect(
                FileManager.default.isExecutableFile(
                    atPath: "\(Repository.top)/scripts/test.d/\(row[0])"), "\(row[0])")
        }
    }

    @Test("each module of Swift tests is run by the stage of that name")
    func modules() throws {
        let stage = try Repository.read("scripts/test.d/swift")
        #expect(stage.lines.contains { $0.contains("in Tests/*Tests; do") })
        let lines = try Repository.read("Package.swift").lines
        let targets = zip(lines, lines.dropFirst()).compactMap { line, next in
            line.hasSuffix(".testTarget(") ? next.split(separator: "\"")[1] : nil
        }
        #expect(targets.count > 10)
        for target in targets {
            #expect(target.hasSuffix("Tests"), "\(target)")
            #expect(Repository.exists("Tests/\(target)"), "\(target)")
        }
    }

    @Test("each folder of Sources names the deep stages that its changes call for")
    func folders() throws {
        let rows = try Self.rows(of: "changed")
        let named = Set(rows.map { $0[0] })
        let top = "\(Repository.top)/Sources"
        for folder in try FileManager.default.contentsOfDirectory(atPath: top) {
            #expect(named.contains("Sources/\(folder)/"), "Sources/\(folder) has no row")
        }
    }

    @Test("each row of the table of changes names an existing path and deep stages")
    func changes() throws {
        let deep = Set(try Self.rows(of: "stages").filter { $0[1] == "deep" }.map { $0[0] })
        for row in try Self.rows(of: "changed") {
            let path = String(row[0])
            let exists =
                Repository.exists(path) || Repository.exists("\(path).bats")
                || Repository.exists("\(path).d")
            #expect(exists, "\(path) does not exist")
            for stage in row.dropFirst() {
                #expect(deep.contains(stage), "\(path): \(stage) is not a deep stage")
            }
        }
    }
}
