import Testing

/// A failed test prints its name without the name of its suite.
@Suite("Names of tests")
struct TestNameTests {
    private struct NamedTest {
        let name: Substring?
        let location: String
    }

    /// The first words of a name whose subject is missing, or is the name of the suite.
    private static let incompleteStarts: Set<String> = [
        "accepts", "adds", "allows", "and", "appends", "applies", "are", "assigns", "becomes",
        "begins", "belongs", "by", "calls", "can", "cannot", "checks", "closes", "combines",
        "compares", "computes", "contains", "continues", "converts", "copies", "creates",
        "deletes", "did", "divides", "do", "does", "drops", "ends", "evaluates", "exists",
        "expires", "fails", "fetches", "finds", "fits", "follows", "for", "from", "gets", "gives",
        "had", "has", "have", "holds", "ignores", "includes", "increments", "inserts", "is", "it",
        "its", "keeps", "leaves", "lets", "makes", "may", "migrates", "must", "needs",
        "never", "not", "of", "opens", "or", "passes", "permits", "posts", "prints", "puts",
        "reaches", "receives", "refers", "refuses", "rejects", "releases", "removes", "replaces",
        "reports", "requires", "restores", "returns", "runs", "says", "searches", "sees", "sends",
        "sets", "shows", "sorts", "starts", "stays", "stops", "takes", "tells", "that", "their",
        "them", "these", "they", "this", "those", "through", "to", "under", "unless", "unlinks",
        "updates", "uses", "waits", "was", "were", "what", "which", "who", "whose", "with",
        "works",
    ]
    private static let wordCountMin = 4

    @Test("the name of every test is a sentence of its own")
    func sentences() throws {
        let tests = try Self.swiftTests()
        #expect(tests.count > 1_000)
        for test in tests {
            guard let name = test.name else {
                Issue.record("\(test.location): name the test by a sentence")
                continue
            }
            #expect(isSentence(name), "\(test.location): begin with the subject: \"\(name)\"")
        }
    }

    @Test("no two tests have the same name")
    func uniqueness() throws {
        var locations: [Substring: String] = [:]
        for test in try Self.swiftTests() + Self.shellTests() {
            guard let name = test.name else { continue }
            if let first = locations.updateValue(test.location, forKey: name) {
                Issue.record("\(test.location) has the name of \(first): \"\(name)\"")
            }
        }
    }

    @Test("the name of a test is found in its line or the next one, and must have a subject")
    func matching() {
        func name(_ lines: Substring...) -> Substring? {
            Self.swiftTests(in: Repository.File(path: "", lines: lines)).first?.name
        }
        #expect(name("    @Test(\"a \\\"b\\\" is c\") func d() {}") == "a \\\"b\\\" is c")
        #expect(name("@MainActor @Test(\"a\", arguments: [\"b\"])") == "a")
        #expect(name("    @Test(", "        \"a store\",", "        arguments: [1])") == "a store")
        #expect(name("    @Test func a() {}") == nil)
        #expect(name("    @Test(arguments: [\"a\"])") == nil)
        #expect(isSentence("a store that is closed is released"))
        for fragment in ["that is closed leaves nothing", "Returns all of its rows", "ranges"] {
            #expect(!isSentence(Substring(fragment)))
        }
    }

    private func isSentence(_ name: Substring) -> Bool {
        let words = name.split(separator: " ")
        guard let first = words.first else { return false }
        return words.count >= Self.wordCountMin
            && !Self.incompleteStarts.contains(first.lowercased())
    }

    private static func swiftTests() throws -> [NamedTest] {
        try Repository.files(under: ["Tests", "Examples", "Browser/Tests"], endings: [".swift"])
            .flatMap { swiftTests(in: $0) }
    }

    private static func swiftTests(in file: Repository.File) -> [NamedTest] {
        file.lines.indices.compactMap { index in
            let line = file.lines[index].drop { $0 == " " }
            guard line.hasPrefix("@"), let attribute = line.firstRange(of: "@Test") else {
                return nil
            }
            var arguments = line[attribute.upperBound...]
            if arguments == "(", index + 1 < file.lines.count {
                arguments = "(" + file.lines[index + 1].drop { $0 == " " }
            }
            let name = arguments.hasPrefix("(") ? literal(arguments.dropFirst()) : nil
            return NamedTest(name: name, location: "\(file.path):\(index + 1)")
        }
    }

    private static func shellTests() throws -> [NamedTest] {
        try Repository.files(under: ["Tests/Shell"], endings: [".bats"]).flatMap { file in
            file.lines.indices.compactMap { index in
                let line = file.lines[index]
                guard line.hasPrefix("@test ") else { return nil }
                return NamedTest(
                    name: literal(line.dropFirst("@test ".count)),
                    location: "\(file.path):\(index + 1)")
            }
        }
    }

    /// The text between the quotation marks with which the line begins.
    private static func literal(_ line: Substring) -> Substring? {
        guard line.hasPrefix("\"") else { return nil }
        let text = line.dropFirst()
        var isEscaped = false
        let end = text.firstIndex { character in
            defer { isEscaped = character == "\\" && !isEscaped }
            return character == "\"" && !isEscaped
        }
        return end.map { text[..<$0] }
    }
}
