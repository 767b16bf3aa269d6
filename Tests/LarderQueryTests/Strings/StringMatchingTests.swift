import LarderModel
import LarderQuery
import TestSupport
import Testing

@Suite("String operators")
struct StringMatchingTests {
    @Test("parts of a string are found at character boundaries, in any normalization form")
    func parts() {
        for (text, part, contains, begins, ends) in [
            ("abc", "b", true, false, false), ("abc", "", true, true, true),
            ("", "", true, true, true), ("", "a", false, false, false),
            ("abc", "abc", true, true, true), ("abc", "abcd", false, false, false),
            // A composed and a decomposed é are equal and do not contain e.
            ("caf\u{E9}", "e\u{301}", true, false, true), ("cafe\u{301}", "e", false, false, false),
            ("e\u{301}a", "e", false, false, false), ("e\u{301}a", "\u{301}", false, false, false),
            // CR LF is one character, so neither half is found.
            ("a\r\nb", "\n", false, false, false), ("a\r\nb", "\r\n", true, false, false),
            ("a\r\nb", "a\r", false, false, false), ("\r\n", "\n", false, false, false),
            ("a\nb", "\n", true, false, false), ("a\rb", "\r", true, false, false),
            ("👨‍👩‍👧", "👩", false, false, false), ("🇩🇪🇫🇷", "🇪🇫", false, false, false),
            ("aaaaab", "aab", true, false, true), ("abababac", "ababac", true, false, true),
        ] {
            #expect(text.containsCharacters(of: part) == contains, "\(text) \(part)")
            #expect(text.beginsWithCharacters(of: part) == begins, "\(text) \(part)")
            #expect(text.endsWithCharacters(of: part) == ends, "\(text) \(part)")
        }
    }

    @Test("wildcards of LIKE match characters, and a backslash escapes them")
    func like() {
        for (text, pattern, matches) in [
            ("", "", true), ("", "*", true), ("", "?", false), ("a", "", false),
            ("abc", "abc", true),
            ("abc", "a?c", true), ("abc", "a*", true), ("abc", "*c", true), ("abc", "*b*", true),
            ("abc", "a*b", false), ("abc", "????", false), ("abc", "***???***", true),
            ("a*c", "a\\*c", true), ("abc", "a\\*c", false), ("a?c", "a\\?c", true),
            ("a\\c", "a\\\\c", true), ("a\\", "a\\", true), ("abc", "\\a\\b\\c", true),
            ("caf\u{E9}", "cafe\u{301}", true), ("e\u{301}", "?", true), ("\r\n", "?", true),
            ("\r\n", "??", false), ("👨‍👩‍👧", "?", true), ("aab", "*ab", true),
            ("abcabd", "*ab?", true),
            ("mississippi", "m*iss*p?", true), ("mississippi", "m*iss*q*", false),
            ("%_", "%_", true),
        ] {
            #expect(LikePattern(pattern).matches(text) == matches, "\(text) \(pattern)")
            #expect(text.matches(like: pattern) == matches)
        }
    }

    @Test("a pattern with exponential backtracking in other matchers is matched at once")
    func hostilePattern() {
        let text = String(repeating: "a", count: 20_000)
        let pattern = String(repeating: "a*", count: 200) + "b"
        #expect(!text.matches(like: pattern))
        #expect(!(text + "é").matches(like: pattern))
        #expect(!text.containsCharacters(of: String(repeating: "a", count: 10_000) + "b"))
    }

    @Test("folding a string applies Unicode's full case folding and removes marks")
    func folding() {
        for (text, case_, marks, both) in [
            ("Abc", "abc", "Abc", "abc"), ("ÄÖÜ", "äöü", "AOU", "aou"),
            ("A\u{308}", "\u{E4}", "A", "a"), ("straße", "strasse", "straße", "strasse"),
            ("STRAẞE", "strasse", "STRAẞE", "strasse"), ("ΣΑΣ ς", "σασ σ", "ΣΑΣ ς", "σασ σ"),
            ("ı", "ı", "ı", "ı"), ("İ", "i\u{307}", "I", "i"), ("ﬁ", "fi", "ﬁ", "fi"),
            ("ŉ", "ʼn", "ŉ", "ʼn"), ("\u{212A}", "k", "K", "k"), ("ſ", "s", "ſ", "s"),
            ("ᾳᾼ", "αιαι", "αΑ", "αα"),
            ("ΑΆ", "αά", "ΑΑ", "αα"), ("Ångström №1", "ångström №1", "Angstrom №1", "angstrom №1"),
            ("한국", "한국", "한국", "한국"), ("", "", "", ""), ("Ÿ\r\n", "ÿ\r\n", "Y\r\n", "y\r\n"),
        ] {
            func folded(_ caseInsensitive: Bool, _ diacriticInsensitive: Bool) -> [UInt8] {
                let folded = text.folded(
                    caseInsensitive: caseInsensitive, diacriticInsensitive: diacriticInsensitive)
                return Array(folded.utf8)
            }
            #expect(folded(true, false) == Array(case_.utf8))
            #expect(folded(false, true) == Array(marks.utf8))
            #expect(folded(true, true) == Array(both.utf8))
            #expect(folded(false, false) == Array(text.normalized.utf8))
        }
    }

    @Test("the normal form of a string is composed, and equal strings have equal bytes in it")
    func normalization() {
        for (text, normal) in [
            ("abc\r\n", "abc\r\n"), ("e\u{301}", "\u{E9}"), ("\u{212B}", "\u{C5}"),
            ("q\u{307}\u{323}", "q\u{323}\u{307}"), ("\u{1112}\u{1161}\u{11AB}", "\u{D55C}"),
            ("\u{958}", "\u{915}\u{93C}"), ("\u{301}", "\u{301}"), ("👨‍👩‍👧", "👨‍👩‍👧"),
        ] {
            #expect(Array(text.normalized.utf8) == Array(normal.utf8))
            #expect(Array(normal.normalized.utf8) == Array(normal.utf8))
        }
    }

    @Test("many combining marks on one character are sorted in less than quadratic time")
    func manyMarks() {
        let text = "a" + String(repeating: "\u{301}\u{323}", count: 100_000)
        let normal = text.normalized
        #expect(normal.unicodeScalars.starts(with: ["\u{1EA1}", "\u{323}"]))
        #expect(normal.unicodeScalars.last == "\u{301}")
        #expect(text.folded(caseInsensitive: true, diacriticInsensitive: true) == "a")
    }

    @Test("string operators agree with a naive search over characters for random texts")
    func againstPlainSearch() {
        var generator = SeededGenerator.fromEnvironment("string matching")
        let alphabet = Array("aab?*\\\r\n\u{301}é".unicodeScalars)
        func random(_ generator: inout SeededGenerator, _ count: Int) -> String {
            var scalars = String.UnicodeScalarView()
            for _ in 0..<Int.random(in: 0...count, using: &generator) {
                scalars.append(alphabet.randomElement(using: &generator) ?? "a")
            }
            return String(scalars)
        }
        for _ in 0..<RandomTesting.iterations() {
            let text = random(&generator, 12)
            let part = random(&generator, 4)
            let (characters, wanted) = (Array(text), Array(part))
            let found = (0...characters.count).contains { characters[$0...].starts(with: wanted) }
            #expect(text.containsCharacters(of: part) == found, "\(text) \(part)")
            #expect(text.beginsWithCharacters(of: part) == characters.starts(with: wanted))
            #expect(
                text.endsWithCharacters(of: part)
                    == characters.suffix(wanted.count).elementsEqual(wanted))
            #expect(
                text.matches(like: part) == Self.plainLike(characters[...], wanted[...]),
                "\(text) \(part)")
            #expect(Array(text.normalized.normalized.utf8) == Array(text.normalized.utf8))
            #expect(text.normalized == text)
        }
    }

    /// LIKE by exhaustive search, for short texts only.
    static func plainLike(_ text: ArraySlice<Character>, _ pattern: ArraySlice<Character>) -> Bool {
        guard let first = pattern.first else { return text.isEmpty }
        let rest = pattern.dropFirst()
        switch first {
        case "*":
            return plainLike(text, rest) || (!text.isEmpty && plainLike(text.dropFirst(), pattern))
        case "?": return !text.isEmpty && plainLike(text.dropFirst(), rest)
        case "\\" where !rest.isEmpty:
            return text.first == rest.first && plainLike(text.dropFirst(), rest.dropFirst())
        default: return text.first == first && plainLike(text.dropFirst(), rest)
        }
    }
}
