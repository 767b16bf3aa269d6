#if PostgreSQL
import Foundation
import LarderModel
import LarderPostgres
import LarderQuery
import LarderStore
import QueryScripts
import TestSupport
import Testing

/// The query scripts of `LarderStoreTests`, run against both stores. What they show of plans and
/// SQL is left out; the rows must be equal.
@Suite(
    "Queries have equal results in SQLite and PostgreSQL",
    .enabled(if: PostgresServer.isInstalled, Comment(rawValue: PostgresServer.notInstalled)))
struct PostgresScriptTests {
    private static let tests = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    private static let scripts = tests.appending(path: "LarderStoreTests/Scripts/queries")
    private static let refusals = tests.appending(path: "LarderPostgresTests/Refusals.text")
    private static let pinned = tests.appending(path: "LarderPostgresTests/Statements.text")

    @Test("each block is equal, with the SQL in Statements.text, or is refused as in Refusals.text")
    func scripts() throws {
        var lines: [String] = []
        var statements: [String] = []
        var differences: [String] = []
        for folder in ["predicates", "expressions", "results", "errors"] {
            let names = try FileManager.default
                .contentsOfDirectory(atPath: Self.scripts.appending(path: folder).path)
                .filter { $0.hasSuffix(".script") }.sorted()
            #expect(!names.isEmpty)
            for name in names {
                let path = Self.scripts.appending(path: "\(folder)/\(name)")
                let text = try String(contentsOf: path, encoding: .utf8)
                var comparison = ScriptComparison()
                try comparison.run(Script(text: text))
                lines += comparison.lines("\(folder)/\(name)")
                statements += ["## \(folder)/\(name)\n"] + comparison.statements
                differences += comparison.differences.map { "\(folder)/\(name):\($0)" }
            }
        }
        #expect(differences.isEmpty, "\(differences.joined(separator: "\n"))")
        try Self.compare(lines, with: Self.refusals)
        let sql = statements.joined(separator: "\n").split(
            separator: "\n", omittingEmptySubsequences: false)
        try Self.compare(sql.map(String.init), with: Self.pinned)
    }

    private static func compare(_ lines: [String], with file: URL) throws {
        if ProcessInfo.processInfo.environment["LARDER_REWRITE"] == "1" {
            try (lines.joined(separator: "\n") + "\n")
                .write(to: file, atomically: true, encoding: .utf8)
        }
        let expected = try String(contentsOf: file, encoding: .utf8)
            .split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init)
        let changes = lines.difference(from: expected).map { change in
            switch change {
            case .remove(_, let line, _): "- \(line)"
            case .insert(_, let line, _): "+ \(line)"
            }
        }
        #expect(
            changes.isEmpty,
            """
            \(file.lastPathComponent); LARDER_REWRITE=1 accepts them:
            \(changes.joined(separator: "\n"))
            """
        )
    }
}

/// One script on both stores.
struct ScriptComparison {
    private(set) var differences: [String] = []
    /// The statements of PostgreSQL for the blocks that show one.
    private(set) var statements: [String] = []
    private var equalCount = 0
    /// The numbers of the blocks that PostgreSQL refuses, by the reason.
    private var refused: [String: Int] = [:]
    /// Why the store cannot have the objects of the blocks that follow.
    private var obstacle: String?

    mutating func run(_ script: Script) throws {
        let sqlite = QueryScript { try Store.inMemory(schema: $0) }
        let postgres = QueryScript { try StoreInPostgres.new($0) }
        for block in script.blocks {
            let command = Self.rowsOnly(block.command)
            let isSchema = command.hasPrefix("schema")
            if isSchema { obstacle = nil }
            let expected = Self.output(command, sqlite)
            if let obstacle {
                refused[obstacle, default: 0] += 1
                continue
            }
            let actual = Self.output(command, postgres)
            if let reason = Self.refusal(in: actual), reason != Self.refusal(in: expected) {
                refused[reason, default: 0] += 1
                let changesObjects = ["schema", "insert", "delete"].contains {
                    command.hasPrefix($0)
                }
                if changesObjects { obstacle = reason }
            } else if actual == expected || Self.isOverflow(expected) && Self.isOverflow(actual) {
                equalCount += 1
                if Self.showsSQL(block.command) {
                    let sql = Self.output(Self.only("sql", block.command), postgres)
                    statements.append("\(Self.heading(block.command))\n\(sql)\n")
                }
            } else {
                differences.append(
                    """
                    \(block.line): \(block.command)
                    SQLite:
                    \(expected)
                    PostgreSQL:
                    \(actual)
                    """
                )
            }
        }
    }

    /// Where a sum is too large, PostgreSQL's message has other words.
    private static func isOverflow(_ output: String) -> Bool {
        output.hasPrefix("error[ARITHMETIC_OVERFLOW]")
    }

    /// The command with rows instead of plans and statements.
    private static func rowsOnly(_ command: String) -> String {
        only(command.contains("\nshow names") ? "names rows" : "rows", command)
    }

    private static func only(_ shown: String, _ command: String) -> String {
        command.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            line.hasPrefix("show ") ? "show \(shown)" : String(line)
        }.joined(separator: "\n")
    }

    private static func showsSQL(_ command: String) -> Bool {
        command.split(separator: "\n").contains {
            $0.hasPrefix("show ") && $0.split(separator: " ").contains("sql")
        }
    }

    /// The command in one line.
    private static func heading(_ command: String) -> String {
        "# "
            + command.split(separator: "\n").filter { !$0.hasPrefix("show ") }
            .joined(separator: "; ")
    }

    private static func output(_ command: String, _ script: QueryScript) -> String {
        do { return try script.run(command) } catch { return "\(error)" }
    }

    /// The part that PostgreSQL does not have, by its error; nil for another output.
    private static func refusal(in output: String) -> String? {
        let line = output.prefix { $0 != "\n" }
        for end in [" cannot be computed by a store in PostgreSQL", " yet"] {
            guard line.contains("a store in PostgreSQL"), let range = line.firstRange(of: end)
            else { continue }
            return String(line[..<range.lowerBound].split(separator: "]: ").last ?? "")
        }
        return line.contains("store in PostgreSQL") ? String(line) : nil
    }

    func lines(_ name: String) -> [String] {
        ["\(name): \(equalCount) equal"]
            + refused.sorted { $0.key < $1.key }.map { "  \($0.value): \($0.key)" }
    }
}
#endif
