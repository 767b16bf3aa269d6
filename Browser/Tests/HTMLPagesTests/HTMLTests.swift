import HTMLPages
import Testing

@Suite("Escaped HTML")
struct HTMLTests {
    @Test("markup in a text is escaped, and HTML in HTML is not")
    func markup() {
        let text = "<script>alert('x')</script>\"&"
        let html: HTML = "<b>\(text)</b>"
        #expect(
            html.text == "<b>&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&quot;&amp;</b>")
        let outer: HTML = "<p>\(html)\([html, html])\(7)</p>"
        #expect(outer.text.matches(of: /<b>/).count == 3)
        #expect(!outer.text.contains("&amp;lt;"))
    }

    @Test("every invisible character of a text is shown as a symbol")
    func invisible() {
        func shown(_ text: String) -> String { ("\(text)" as HTML).text }
        #expect(shown("a\u{0}b\u{7}\u{1B}[31m\r") == "a␀b␇␛[31m␍")
        #expect(shown("\u{7F}\u{85}\u{9F}") == "␡⟦U+0085⟧⟦U+009F⟧")
        #expect(shown("x\u{202E}y\u{2066}\u{200F}\u{FEFF}") == "x⟦U+202E⟧y⟦U+2066⟧⟦U+200F⟧⟦U+FEFF⟧")
        #expect(shown("\u{E0041}") == "⟦U+E0041⟧")
        // Layout, and joiners within emoji and words, stay.
        #expect(shown("a\tb\nc 👩‍👩‍👧 é ü") == "a\tb\nc 👩‍👩‍👧 é ü")
        for value in (0..<0x110000 as Range<UInt32>) {
            guard let scalar = Unicode.Scalar(value) else { continue }
            let category = scalar.properties.generalCategory
            let isHidden = category == .control || scalar.properties.isBidiControl
            if isHidden, scalar != "\t", scalar != "\n" {
                #expect(!shown(String(scalar)).unicodeScalars.contains(scalar), "\(value)")
            }
        }
    }

    @Test("a text that is written exactly keeps its characters, and its markup is escaped")
    func exact() {
        let text = "<\u{202E}\u{1}>"
        let html: HTML = "\(exactly: text)"
        #expect(html.text == "&lt;\u{202E}\u{1}&gt;")
    }
}
