import LarderModel
import Testing

@testable import LarderSQL
@testable import LarderStore

@Suite("The query of an index of parts of texts")
struct TrigramQueryTests {
    @Test(
        "the query of a text index requires the terms that every match has",
        arguments: [
            ("CONTAINS", "Hello", #""hel" "ell" "llo""#), ("CONTAINS", "ab", nil),
            ("CONTAINS", "", nil), ("ENDSWITH", "été", #""ete""#),
            ("CONTAINS", "a\"b", #""a""b""#), ("CONTAINS", "a b", #""a b""#),
            ("CONTAINS", "aaaa", #""aaa""#),
            ("LIKE", "*one?two*", #""one" "two""#), ("LIKE", "a*b*c", nil),
            ("LIKE", #"\*\?x"#, #""*?x""#), ("LIKE", #"ab\"#, #""ab\""#),
            ("MATCHES", "abc", #""abc""#), ("MATCHES", "^abc$", #""abc""#),
            ("MATCHES", "abcd?", #""abc""#), ("MATCHES", "abc+d", #""abc""#),
            ("MATCHES", "abcx*def", #""abc" "def""#), ("MATCHES", "abcx{0,3}def", #""abc" "def""#),
            ("MATCHES", "(abc)?def", #""def""#), ("MATCHES", "[abc]def[]x]ghi", #""def" "ghi""#),
            ("MATCHES", #"\d+abc\.d"#, #""abc" "bc." "c.d""#),
            ("MATCHES", ".*abc.*", #""abc""#), ("MATCHES", "(a|b)cde", #""cde""#),
            ("MATCHES", #"(a\)b)cde"#, #""cde""#), ("MATCHES", "([)])cde", #""cde""#),
        ])
    func terms(operatorName: String, pattern: String, query: String?) throws {
        let comparison = try #require(Comparison.Operator(rawValue: operatorName))
        #expect(TrigramQuery.text(of: pattern, comparison, []) == query)
    }

    @Test(
        "the query of a text index requires nothing of an unknown regular expression",
        arguments: [
            "abc|def", "(?i)abc", "abc(?x: d )", "(*UTF)abc", #"\Qabc"#, #"abc\x41"#, #"abc\K"#,
            "abc[[:alpha:]]", "abc(", "abc[", #"abc\"#, "abc{", #"[\Q]\E]abc"#, "((?:abc)",
        ])
    func unknown(expression: String) {
        #expect(TrigramQuery.text(of: expression, .matches, []) == nil)
    }

    @Test("the query of a text index with [c] does not require the letter of a folded mark")
    func foldedMark() {
        #expect(TrigramQuery.text(of: "αβγιδεζ", .contains, .caseInsensitive) == #""αβγ" "δεζ""#)
        #expect(TrigramQuery.text(of: "αβι", .contains, .caseInsensitive) == nil)
        #expect(TrigramQuery.text(of: "αβι", .contains, .insensitive) == #""αβι""#)
    }

    @Test("the query of a text index has at most 16 terms, from the whole text")
    func longPattern() throws {
        let pattern = (100..<1_000).map(String.init).joined(separator: " ")
        let query = try #require(TrigramQuery.text(of: pattern, .contains, []))
        let terms = query.split(separator: "\" \"").count
        #expect(terms > 10 && terms <= 16)
        #expect(query.hasPrefix("\"100\""))
        #expect(query.hasSuffix("\"999\""))
    }
}
