import TestSupport
import Testing

@testable import LarderSQL
@testable import LarderStore

@Suite("The literal that a regular expression requires")
struct RequiredLiteralTests {
    @Test(
        "the required literal of a regular expression is its longest constant part",
        arguments: [
            ("abc", "abc"), (".*abc.*", "abc"), ("ab.cde.f", "cde"), ("abc*", "ab"),
            ("abc?d", "ab"), ("abc{2,3}de", "ab"), ("ab+c", "ab"), ("é*ab", "ab"), ("aé*", "a"),
            ("a\\.b", "a.b"), ("a\\db", "a"), ("[abc]de", "de"), ("[]x]yz", "yz"),
            ("(abcd)ef", "ef"), ("(a|b)(c[)]d)ef", "ef"), ("^ab$", "ab"), ("", ""), (".*", ""),
            ("日本.*", "日本"),
        ])
    func usual(pattern: String, literal: String) {
        #expect(PatternCache.longestLiteral(of: pattern) == Array(literal.utf8))
    }

    @Test(
        "no literal is required by a pattern that may mean something else",
        arguments: [
            "abc|d", "(?i)abc", "(*UCP)abc", "\\Qa*b\\E", "\\p{Lu}abc", "\\x41bc", "a\\1b",
            "(?x) a b",
            "[[:alpha:]]bc", "ab{2", "a(?=bc)d", "\\", "(\\c))", "[\\c]]x",
        ])
    func unusual(pattern: String) {
        #expect(PatternCache.longestLiteral(of: pattern) == [])
    }

    @Test("the required literal is in every matching text, for random patterns and texts")
    func againstMatches() throws {
        var random = SeededGenerator.fromEnvironment("required literals")
        let parts = [
            "a", "b", "é", "ab", ".", "*", "+", "?", "[ab]", "[^a]", "(a|b)", "(ab)", "\\.", "\\w",
            "{2}", "{0,1}", "|", "^", "$", "(?i)", "\\Q", "\\E", "[]a]",
        ]
        var matchCount = 0
        for _ in 0..<5 * RandomTesting.iterations() {
            let pattern = (0..<Int.random(in: 1...5, using: &random))
                .compactMap { _ in parts.randomElement(using: &random) }.joined()
            guard let expression = try? RegularExpression(pattern) else { continue }
            let literal = PatternCache.longestLiteral(of: pattern)
            for _ in 0..<5 {
                let text = (0..<Int.random(in: 0...6, using: &random))
                    .compactMap { _ in ["a", "b", "é", ".", "A"].randomElement(using: &random) }
                    .joined()
                guard try expression.matchesWhole(text) else { continue }
                matchCount += 1
                let bytes = Array(text.utf8)
                let isFound = (0...bytes.count).contains { bytes[$0...].starts(with: literal) }
                #expect(isFound, "\(pattern) matches \(text)")
            }
        }
        #expect(matchCount > 100)
    }
}
