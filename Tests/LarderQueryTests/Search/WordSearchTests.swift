import LarderModel
import Testing

@testable import LarderQuery

@Suite("A search for words")
struct WordSearchTests {
    private func search(_ text: String, _ texts: String...) throws -> WordSearch {
        let search = WordSearch(try SearchText(text))
        search.begin()
        for text in texts { search.read(Array(text.utf8).span) }
        return search
    }

    private func holds(_ text: String, _ texts: String...) throws -> Bool {
        let search = try search(text)
        for text in texts { search.read(Array(text.utf8).span) }
        return search.holds
    }

    @Test("a search finds objects whose texts together have each word, and each phrase in one text")
    func meaning() throws {
        #expect(try holds("larder redis", "The Larder", "not Redis"))
        #expect(try !holds("larder redis", "The Larder"))
        #expect(try !holds("lard", "The Larder"))
        #expect(try holds("lard*", "The Larder"))
        #expect(try holds(#""object store""#, "an Object-Store"))
        #expect(try !holds(#""object store""#, "object", "store"))
        #expect(try !holds(#""object store""#, "store object"))
        #expect(try holds(#""a a b""#, "a a a b"))
        #expect(try holds(#""an obj"*"#, "an object"))
        #expect(try !holds("larder -redis", "Larder", "and redis"))
        #expect(try holds("-redis larder OR store", "store redis"))
        #expect(try holds("emile", "É\u{301}MILE"))
        #expect(try holds("京都", "東京都"))
        #expect(try holds("👍", "well done 👍🏽"))
        #expect(try !holds("larder"))
    }

    @Test("the score of a search grows with occurrences and falls with length")
    func score() throws {
        let one = try search("larder", "the larder").score
        #expect(abs(one - 2.2 / (1 + 0.3 + 0.018)) < 1e-9)
        #expect(try search("larder", "larder larder").score > one)
        #expect(try search("larder", "the larder of a house").score < one)
        #expect(try search("larder", "the larder", "the larder").score == 2 * one)
        #expect(try search("larder -redis", "larder redis").score == 0)
        #expect(try search("larder", "redis").score == 0)
        // Only alternatives that hold count.
        #expect(try search("larder redis OR the", "the larder").score == one)
    }

    private func highlight(_ text: String, _ search: String) throws -> String? {
        SearchMarks(try self.search(search), start: "[", end: "]").highlighted(text)
    }

    private func snippet(_ text: String, _ search: String, _ words: Int) throws -> String? {
        SearchMarks(try self.search(search), start: "[", end: "]").snippet(of: text, words: words)
    }

    @Test("a search highlights words and phrases")
    func highlight() throws {
        #expect(try highlight("The Larder, larders", "larder -the") == "The [Larder], larders")
        #expect(
            try highlight("an object-store, an object", #""object store""#)
                == "an [object-store], an object")
        #expect(try highlight("a a a", #""a a""#) == "[a a a]")
        #expect(try highlight("E\u{301}mile", "emile") == "[Émile]")
        #expect(try highlight("nothing", "larder") == "nothing")
        #expect(try highlight("", "larder") == "")
        #expect(try highlight("東京都", "京都") == "東[京都]")
        #expect(try highlight("well 👍🏽!", "👍") == "well [👍🏽]!")
    }

    @Test("the snippet of a search is around the most words")
    func snippet() throws {
        let text = "one two three four five six seven eight nine ten."
        #expect(try snippet(text, "seven", 3) == "…six [seven] eight…")
        #expect(try snippet(text, "one", 3) == "[one] two three…")
        #expect(try snippet(text, "ten", 3) == "…eight nine [ten].")
        #expect(try snippet(text, "two OR eight nine", 4) == "…seven [eight] [nine] ten.")
        #expect(try snippet(text, "none", 2) == "one two…")
        #expect(
            try snippet(text, "five", 100) == "one two three four [five] six seven eight nine ten.")
        #expect(try snippet(text, "five", 0) == "…[five]…")
        #expect(try snippet(text, #""four five six""#, 2) == "one two…")
        #expect(try snippet("", "five", 2) == "")
    }

    @Test("a search for words can be interrupted")
    func interruption() throws {
        let search = try search("larder")
        let text = Array(String(repeating: "larder ", count: 100_000).utf8)
        var calls = 0
        search.read(
            text.span,
            Interruption {
                calls += 1
                return true
            })
        #expect(calls == 1)
    }
}
