import LarderModel
import TestSupport
import Testing

@testable import LarderQuery

@Suite("A search text")
struct SearchTextTests {
    /// The alternatives of a text: `a "b c" -d e*`.
    private func parsed(_ text: String) throws -> String {
        func described(_ term: SearchText.Term) -> String {
            let words = term.words.map { String(decoding: $0, as: UTF8.self) }
            let joined = words.joined(separator: " ")
            return (words.count > 1 ? "\"\(joined)\"" : joined) + (term.isPrefix ? "*" : "")
        }
        return try SearchText(text).alternatives.map { alternative in
            (alternative.required.map(described)
                + alternative.excluded.map { "-" + described($0) })
                .joined(separator: " ")
        }.joined(separator: " | ")
    }

    private func error(_ text: String) -> LarderError? {
        do throws(LarderError) {
            _ = try SearchText(text)
            return nil
        } catch {
            return error
        }
    }

    @Test("a search text has words, phrases, exclusions, beginnings and alternatives")
    func grammar() throws {
        #expect(
            try parsed(#"larder "Object Store" -redis pan*"#)
                == #"larder "object store" pan* -redis"#)
        #expect(try parsed("a OR b c OR -d e") == "a | b c | e -d")
        #expect(try parsed("a AND b") == "a b")
        #expect(try parsed("or and not NOT") == "or and not not")
        #expect(try parsed(#"-"two words" x"#) == #"x -"two words""#)
        #expect(try parsed(#""two wor"*"#) == #""two wor"*"#)
        #expect(try parsed(#"a"b c"d"#) == #"a "b c" d"#)
        #expect(try parsed(#""OR" a"#) == "or a")
    }

    @Test("a search text divides words at their separators, into phrases")
    func phrases() throws {
        #expect(
            try parsed("e-mail don't snake_case a.b:c") == """
                "e mail" "don t" "snake case" "a b c"
                """)
        #expect(try parsed("salt & pepper - x") == "salt pepper x")
        #expect(try parsed("東京 ÉMILE Straße 👍🏽") == #""東 京" emile strasse 👍"#)
        #expect(try parsed("a\u{0}b NEAR(c d) {e} : ^f") == #""a b" "near c" d e f"#)
        #expect(try parsed("pan-gal*") == #""pan gal"*"#)
    }

    @Test("a malformed search text is an error that names the character")
    func malformed() {
        let cases = [
            (#"larder "object store"#, "has no second quotation mark for the one at character 8"),
            ("OR larder", "has no word on one side of OR at character 1"),
            ("larder OR", "has no word on one side of OR at character 8"),
            ("a OR AND b", "has no word on one side of AND at character 6"),
            ("-redis", "up to character 6 only excludes words"),
            ("a OR -b OR c", "up to character 8 only excludes words"),
            ("*", "has an asterisk that is not at the end of a word at character 1"),
            ("p*n", "has an asterisk that is not at the end of a word at character 2"),
            ("", "has no word"), (" - \"\" & ", "has no word"),
        ]
        for (text, message) in cases {
            #expect(error(text)?.code == .malformedValue, "\(text)")
            #expect(error(text)?.message == "the search text \(message)", "\(text)")
        }
    }

    @Test("a search text that is too long is an error")
    func limits() {
        let most = Limits.searchTextBytesMax
        #expect(error(String(repeating: "a", count: most)) == nil)
        #expect(error(String(repeating: "a", count: most + 1))?.code == .resourceExhausted)
        #expect(error(String(repeating: "a", count: 256 << 10))?.code == .resourceExhausted)
        let words = Array(repeating: "a", count: Limits.searchWordsMax)
        #expect(error(words.joined(separator: " ")) == nil)
        #expect(error((words + ["b"]).joined(separator: "-"))?.code == .resourceExhausted)
    }

    @Test("a search text has the words that the index of words has")
    func wordForms() {
        #expect(
            SearchText.wordForm(of: "The “Émigré” of 1,000 ﬁles…") == "the emigre of 1 000 files")
        #expect(SearchText.wordForm(of: "各自 हिन्दी ไทย") == "各 自 हिनदी ไ ท ย")
        #expect(SearchText.wordForm(of: "exa\u{AD}mple 👩‍👩‍👧 ❤️!") == "example 👩 👩 👧 ❤")
        #expect(SearchText.wordForm(of: " \u{301} - ") == "")
        // FTS5's tokenizer divides at all other ASCII characters.
        for scalar in Unicode.Scalar.tried {
            let form = SearchText.wordForm(of: String(scalar))
            let isWord = form.utf8.allSatisfy { byte in
                byte >= 0x80 || (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte)
            }
            if !isWord { Issue.record("\(scalar.value): \(form)") }
        }
    }

    @Test("a search text compares a word up to a number of bytes")
    func longWords() {
        let form = SearchText.wordForm(of: String(repeating: "é", count: 10_000) + " x")
        #expect(form == String(repeating: "e", count: WordScanner.comparedBytesMax) + " x")
        let wide = SearchText.wordForm(of: String(repeating: "ж", count: 10_000))
        #expect(wide.utf8.count == WordScanner.comparedBytesMax)
    }
}
