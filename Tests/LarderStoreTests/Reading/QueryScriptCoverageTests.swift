import FoundationEssentials
import LarderModel
import Testing

/// The scripts as a specification: every feature of Core Data and Larder is in one of them, with
/// its statement and its result.
@Suite("Each operator and function has a script")
struct QueryScriptCoverageTests {
    private struct Block {
        let script: String
        let command: String
        let expected: [Substring]

        /// Whether it shows a statement and the rows.
        var isAnswered: Bool {
            command.contains("\nshow sql") && command.contains(" rows\n")
                && expected.contains { $0.hasPrefix("SELECT ") || $0.hasPrefix("WITH ") }
        }

        var isRefused: Bool { expected.first?.hasPrefix("error[") == true }

        func asks(_ form: String) -> Bool { command.lowercased().contains(form.lowercased()) }
    }

    private static let top = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().path

    private static func read(_ path: String) throws -> String {
        let data = try Data(contentsOf: URL(filePath: "\(top)/\(path)"))
        return String(decoding: data, as: UTF8.self)
    }

    private static func blocks(of script: String) throws -> [Block] {
        let folder = "Tests/LarderStoreTests/Scripts/queries"
        let paths = QueryScriptTests.folders.map { "\(folder)/\($0)/\(script)" }
        let path = try #require(
            paths.first { FileManager.default.fileExists(atPath: "\(Self.top)/\($0)") })
        let text = try read(path)
        return text.split(separator: "\n\n").compactMap { block in
            let lines = block.split(separator: "\n", omittingEmptySubsequences: false)
            guard let rule = lines.firstIndex(of: "---") else { return nil }
            return Block(
                script: script, command: lines[..<rule].joined(separator: "\n") + "\n",
                expected: Array(lines[(rule + 1)...]))
        }
    }

    private static func answeredBlocks(of scripts: [String]) throws -> [Block] {
        try scripts.flatMap(blocks).filter(\.isAnswered)
    }

    @Test("each operator has a script with each of its options, for one value and for many")
    func operators() throws {
        let single = try Self.answeredBlocks(of: ["operators.script"])
        let many = try Self.answeredBlocks(of: ["modifiers.script"])
        for written in Comparison.Operator.allCases.map(\.rawValue) {
            for options in ["", "[c]", "[d]", "[cd]", "[n]"] {
                let form = "\nwhere text \(written)\(options) "
                #expect(single.contains { $0.asks(form) }, "no answer to \(written)\(options)")
            }
            for modifier in ["ANY", "ALL", "NONE"] {
                #expect(
                    many.contains { $0.asks("\nwhere \(modifier) ") && $0.asks(" \(written) ") },
                    "no answer to \(modifier) … \(written)")
            }
        }
    }

    @Test("each function of one object's values has a script, by its name or as an operator")
    func functions() throws {
        let answered = try Self.answeredBlocks(
            of: [
                "functions.script", "text-functions.script", "date-functions.script",
                "function-names.script", "expression-types.script", "word-search.script",
                "join.script",
            ])
        let operators: [ScalarFunction: String] = [
            .add: " + ", .subtract: " - ", .multiply: " * ", .divide: " / ", .power: " ** ",
            .negate: "where -",
        ]
        for function in ScalarFunction.allCases {
            let form = operators[function] ?? "\(function.name)("
            #expect(answered.contains { $0.asks(form) }, "no answer to \(function.name)")
        }
    }

    @Test("each aggregate has a script over a group and over a to-many relationship")
    func aggregates() throws {
        let grouped = try Self.answeredBlocks(
            of: ["aggregates.script", "results.script", "sums.script"]
        ).filter { $0.asks("\ngroup ") }
        let many = try Self.answeredBlocks(of: ["collections.script"])
        for function in AggregateFunction.allCases {
            let named = function.rawValue
            #expect(
                grouped.contains { $0.asks("\(named):") || named == "count" && $0.asks("=count") },
                "no answer to \(named) of a group")
            let form = "@\(function.collectionOperator)"
            #expect(many.contains { $0.asks(form) }, "no answer to \(form)")
        }
    }

    /// The cells of each table row in a section of a page.
    private static func rows(under heading: String) throws -> [[String]] {
        let page = try read("docs/queries.md")
        let section = page.components(separatedBy: "\n## ").first { $0.hasPrefix(heading + "\n") }
        return (section ?? "").split(separator: "\n").filter { $0.hasPrefix("| ") }.map { line in
            line.replacing("\\|", with: "\u{0}").split(separator: "|").map {
                String($0).replacing("\u{0}", with: "|")
            }
        }
    }

    @Test("every form in the Core Data tables of docs/queries.md is in the script that it names")
    func documented() throws {
        var answers = 0
        var refusals = 0
        for cells in try Self.rows(under: "Core Data compatibility") where cells.count == 3 {
            let scripts = cells[2].matches(of: /`([a-z-]+\.script)`/).map { String($0.1) }
            guard !scripts.isEmpty else { continue }
            let blocks = try scripts.flatMap(Self.blocks)
            let isRefused = cells[1].hasPrefix(" no: ")
            for match in cells[isRefused ? 0 : 1].matches(of: /`([^`]+)`/) {
                let form = String(match.1)
                #expect(
                    blocks.contains { $0.asks(form) && (isRefused ? $0.isRefused : $0.isAnswered) },
                    "\(cells[2]) does not \(isRefused ? "refuse" : "answer") \(form)")
                if isRefused { refusals += 1 } else { answers += 1 }
            }
        }
        #expect(answers > 50 && refusals > 10, "\(answers) answers and \(refusals) refusals")
    }
}
