import LarderModel
import TestSupport
import Testing

@Suite("Orders of strings")
struct StringOrderTests {
    @Test(
        "the orders of strings sort them for people, or by scalars",
        arguments: [
            (StringOrder.plain, ["", "B", "Z", "a", "b", "é"]),
            (.caseInsensitive, ["", "a", "B", "b", "Z", "É", "é"]),
            (
                .localizedStandard,
                [
                    "", " a", "007", "7", "8", "70", "Article 9", "Article 10", "Article 10a",
                    "cote", "Cote", "coté", "côte", "zoo", "Ω", "日本",
                ]
            ),
        ])
    func examples(_ order: StringOrder, _ sorted: [String]) {
        for (place, left) in sorted.enumerated() {
            for (other, right) in sorted.enumerated() {
                let expected = (place - other).signum()
                #expect(
                    order.compare(left, right).signum() == expected, "\(order): \(left) \(right)")
            }
        }
    }

    @Test("numbers of any length in strings compare by value, ignoring leading zeros")
    func longNumbers() {
        let order = StringOrder.localizedStandard
        let nines = String(repeating: "9", count: 400)
        #expect(order.compare("v\(nines)", "v1\(String(repeating: "0", count: 400))") < 0)
        #expect(order.compare("v0000\(nines)", "v\(nines)8") < 0)
        #expect(order.compare("1.10", "1.9") > 0)
    }

    @Test("each order of strings is total, and only equal strings compare equal")
    func isTotal() {
        var generator = SeededGenerator.fromEnvironment("orders of strings")
        let pieces: [Character] = [
            "a", "A", "b", "B", "é", "É", "e", "ß", "s", "S", "0", "1", "9", "٣", " ", "-", "日",
            "\u{301}", "\u{327}", "ı", "İ", "ǆ", "ﬁ",
        ]
        for _ in 0..<RandomTesting.iterations() {
            let strings = (0..<3).map { _ in
                let count = Int.random(in: 0...5, using: &generator)
                let text = String(
                    (0..<count).map { _ in pieces.randomElement(using: &generator) ?? "a" })
                return text.normalized
            }
            for order in StringOrder.allCases {
                let (a, b, c) = (strings[0], strings[1], strings[2])
                let (ab, bc, ac) = (
                    order.compare(a, b), order.compare(b, c), order.compare(a, c)
                )
                #expect(ab.signum() == -order.compare(b, a).signum(), "\(order): \(strings)")
                #expect((ab == 0) == a.utf8.elementsEqual(b.utf8), "\(order): \(strings)")
                if ab <= 0, bc <= 0 { #expect(ac <= 0, "\(order): \(strings)") }
                if ab >= 0, bc >= 0 { #expect(ac >= 0, "\(order): \(strings)") }
            }
        }
    }
}
