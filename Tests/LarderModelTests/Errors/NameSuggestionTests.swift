import Testing

@testable import LarderModel

@Suite("Suggested names")
struct NameSuggestionTests {
    @Test("the nearest name within two edits is suggested, ignoring case")
    func nearest() {
        func hint(_ name: String, _ known: String...) -> String? {
            NameSuggestion.hint(for: name, among: known)
        }
        #expect(hint("titel", "text", "title") == "did you mean \"title\"?")
        #expect(hint("TITLE", "text", "title") == "did you mean \"title\"?")
        #expect(hint("naem", "name", "game") == "did you mean \"name\"?")
        #expect(hint("wordCont", "wordCount", "wordCounts") == "did you mean \"wordCount\"?")
        #expect(hint("wordCountss", "wordCount") == "did you mean \"wordCount\"?")
        #expect(hint("wordCountsss", "wordCount") == nil)
        #expect(hint("published", "title", "text") == nil)
        // Two edits turn every name of two bytes into every other one.
        #expect(hint("ab", "xy") == nil)
        #expect(hint("", "id", "") == nil)
        #expect(hint("größe", "grösse", "größe2") == "did you mean \"größe2\"?")
    }

    @Test("names at every distance are found as a plain computation finds them")
    func distances() {
        var random = SeededNames()
        for _ in 0..<2_000 {
            let (name, known) = (random.name(), random.name())
            let expected = Self.distance(Array(name.utf8), Array(known.utf8))
            let isNear = expected <= 2 && expected < known.utf8.count
            #expect(
                (NameSuggestion.hint(for: name, among: [known]) != nil) == isNear,
                "\(name) and \(known) differ by \(expected)")
        }
    }

    private struct SeededNames {
        private var state: UInt64 = 42

        mutating func name() -> String {
            String((0..<(1 + next(7))).map { _ in next(2) == 0 ? "a" : "b" } as [Character])
        }

        private mutating func next(_ count: UInt64) -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return (state >> 33) % count
        }
    }

    private static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
        var row = Array(0...right.count)
        for (line, byte) in left.enumerated() {
            var diagonal = row[0]
            row[0] = line + 1
            for index in right.indices {
                let replaced = diagonal + (byte == right[index] ? 0 : 1)
                diagonal = row[index + 1]
                row[index + 1] = min(replaced, diagonal + 1, row[index] + 1)
            }
        }
        return row[right.count]
    }

    // MARK: Bounds

    /// Compares all names until the search stops, and returns it.
    private func search(
        _ name: String, among known: some Sequence<String>
    ) throws -> NameSearch {
        var search = try #require(NameSearch(for: name))
        for candidate in known where !search.consider(candidate) { break }
        return search
    }

    @Test("names that share a long beginning are compared up to a number of bytes in total")
    func comparedBytes() throws {
        let beginning = String(repeating: "a", count: 120)
        let known = (0..<5_000).map { "\(beginning)\(1_000 + $0)" }
        let search = try search("\(beginning)xxxx", among: known)
        #expect(search.comparedBytes >= NameSearch.comparedBytesMax)
        #expect(search.comparedBytes < NameSearch.comparedBytesMax + Limits.nameBytesMax)
    }

    @Test("a search ends after a number of names, also if none has a similar length")
    func candidates() throws {
        let known = repeatElement("ab", count: NameSearch.candidatesMax + 100)
        let search = try search("something else", among: known)
        #expect(search.candidateCount == NameSearch.candidatesMax)
        #expect(search.comparedBytes == 0)
    }

    @Test("a text that is longer than a name is compared with nothing")
    func longText() {
        let longest = String(repeating: "n", count: Limits.nameBytesMax)
        #expect(NameSuggestion.hint(for: longest, among: [longest]) != nil)
        #expect(NameSuggestion.hint(for: longest + "n", among: [longest]) == nil)
    }

    @Test("an unknown name among the properties of the largest entity is compared in few bytes")
    func usualNames() throws {
        let known = (0..<Limits.propertiesMax).map { "property\($0)" }
        let search = try search("nowhere", among: known)
        #expect(search.candidateCount == known.count)
        #expect(search.comparedBytes < 10 * known.count)
    }
}
