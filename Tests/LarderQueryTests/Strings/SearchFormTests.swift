import LarderModel
import LarderQuery
import TestSupport
import Testing

@Suite("The form of texts in an index of their parts")
struct SearchFormTests {
    @Test(
        "the search form of a text has no case, no accents and no zero byte",
        arguments: [
            ("", ""), ("Hello, World", "hello, world"), ("Ärger", "arger"), ("cafe\u{301}", "cafe"),
            ("Straße", "strasse"), ("STRASSE", "strasse"), ("ẞ", "ss"), ("İstanbul", "istanbul"),
            ("ıspanak", "ıspanak"), ("Ωμέγα", "ωμεγα"), ("ᾳ", "α"), ("ﬁn", "fin"),
            ("한글", "\u{1112}\u{1161}\u{11AB}\u{1100}\u{1173}\u{11AF}"), ("漢字", "漢字"),
            ("a\u{0}b", "a\u{1}b"), ("\u{FFFF}", "\u{FFFD}"), ("e\u{301}\u{302}", "e"),
            ("👩🏽‍🚒", "👩🏽\u{200D}🚒"),
        ])
    func forms(text: String, form: String) {
        #expect(Array(SearchForm.form(of: text).utf8) == Array(form.utf8))
    }

    /// The form maps each scalar by itself. So this shows for texts that whatever `[c]`, `[d]` and
    /// `[cd]` ignore, the form ignores too.
    @Test("the search form of a character is that of the character without case or accents")
    func everyScalar() {
        var failures: [String] = []
        for scalar in Unicode.Scalar.tried {
            let text = String(scalar)
            let form = SearchForm.form(of: text)
            let options = [(true, false), (false, true), (true, true)]
            let isEqual = options.allSatisfy { isCase, isMark in
                let folded = text.folded(caseInsensitive: isCase, diacriticInsensitive: isMark)
                let foldedForm = SearchForm.form(of: folded)
                // The exception of `[c]`; see SearchForm.
                return isMark ? foldedForm == form : Self.exceptMark(foldedForm, form)
            }
            if !isEqual || SearchForm.form(of: form) != form {
                failures.append("U+\(String(scalar.value, radix: 16)): \(form)")
            }
        }
        #expect(failures == [])
    }

    @Test("texts that are equal under [c] or [d] are equal under [cd]")
    func equality() {
        var failures: [String] = []
        for scalar in Unicode.Scalar.tried {
            let text = String(scalar)
            func folded(_ text: String, _ isCase: Bool, _ isMark: Bool) -> String {
                text.folded(caseInsensitive: isCase, diacriticInsensitive: isMark)
            }
            let canonical = folded(text, true, true)
            let caseless = folded(text, true, false)
            let isException = caseless.unicodeScalars.contains(SearchForm.foldedMark)
            let isEqual =
                folded(folded(text, false, true), true, true) == canonical
                && (isException || folded(caseless, true, true) == canonical)
            if !isEqual { failures.append("U+\(String(scalar.value, radix: 16))") }
        }
        #expect(failures == [])
    }

    private static func exceptMark(_ folded: String, _ form: String) -> Bool {
        func without(_ text: String) -> [Unicode.Scalar] {
            text.unicodeScalars.filter { $0 != SearchForm.foldedMark }
        }
        return folded == form || without(folded) == without(form)
    }
}
