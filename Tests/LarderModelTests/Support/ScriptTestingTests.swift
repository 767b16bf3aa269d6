import FoundationEssentials
import TestSupport
import Testing

@Suite(
    "Golden scripts",
    .enabled(if: ProcessInfo.processInfo.environment["LARDER_REWRITE"] != "1"))
struct ScriptTestingTests {
    /// Runs one script in a temporary folder; each command returns itself in upper case.
    func failures(of script: String?) throws -> [String] {
        let root = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        let folder = root.appending(path: "Scripts/topic")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: root) }
        if let script {
            try Data(script.utf8).write(to: folder.appending(path: "a.script"))
        }
        let caller = root.appending(path: "Deep/Er/Caller.swift").path
        do {
            try runScripts(in: "topic", filePath: caller) { $0.uppercased() }
            return []
        } catch let failure as ScriptFailure {
            return failure.failures
        }
    }

    @Test("a test script with matching output passes, and comments and blank lines are ignored")
    func passes() throws {
        #expect(try failures(of: "# comment\n\na\n---\nA\n\n\n# more\nb\nc\n---\nB\nC\n") == [])
        #expect(try failures(of: "a\n\n---\nA\n").count == 2)
    }

    @Test("a difference in a test script is reported with file, line, command and both texts")
    func differs() throws {
        let failures = try failures(of: "# comment\na\nb\n---\nA\nX\n")
        #expect(failures.count == 1)
        #expect(failures[0].contains("Scripts/topic/a.script:2: a\nb\n"))
        #expect(failures[0].hasSuffix("      A\n    - X\n    + B"))
    }

    @Test("a test script without a block, and a folder without a script, fail")
    func empty() throws {
        #expect(try failures(of: "").count == 1)
        #expect(try failures(of: "# comment\n").count == 1)
        #expect(try failures(of: nil).count == 1)
    }

    @Test("a block of a test script without a separator fails")
    func withoutRule() throws {
        #expect(try failures(of: "a\n---\nA\n\nb\nB\n").count == 1)
    }
}
