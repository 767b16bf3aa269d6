import LarderModel
import Testing

@testable import LarderQuery

@Suite("Texts that are joined")
struct JoinedTextsTests {
    private func joined(
        _ texts: [(String, JoinedTexts.Position?)], by separator: String
    ) throws -> String? {
        var joined = JoinedTexts()
        for (text, position) in texts { joined.add(text, at: position) }
        return try joined.text(separatedBy: separator, .never)
    }

    @Test("texts with positions have their order, and keys decide between equal ones")
    func ordered() throws {
        let texts: [(String, JoinedTexts.Position?)] = [
            ("c", .init(2, key: 9)), ("a", .init(2, key: 1)), ("b", .init(-1, key: 5)),
        ]
        #expect(try joined(texts, by: ", ") == "b, a, c")
    }

    @Test("texts without positions are sorted by Unicode scalars, and equal ones stay")
    func sorted() throws {
        #expect(try joined([("b", nil), ("é", nil), ("B", nil), ("b", nil)], by: "") == "Bbbé")
    }

    @Test("no text is nil, and one has no separator")
    func few() throws {
        #expect(try joined([], by: ", ") == nil)
        #expect(try joined([("", nil)], by: ", ") == "")
        #expect(try joined([("", nil), ("", nil)], by: ", ") == ", ")
    }

    @Test("where two texts meet, characters combine")
    func composed() throws {
        #expect(try joined([("e", .init(0)), ("\u{301}", .init(1))], by: "") == "é")
        #expect(
            try joined([("e", .init(0)), ("\u{301}", .init(1))], by: "")?.unicodeScalars.count == 1)
    }

    @Test("a text of the longest length is joined, and one byte more is refused")
    func longest() throws {
        let half = String(repeating: "a", count: Limits.functionTextBytesMax / 2)
        let texts: [(String, JoinedTexts.Position?)] = [(half, nil), (half, nil)]
        #expect(try joined(texts, by: "")?.utf8.count == Limits.functionTextBytesMax)
        #expect(throws: LarderError.self) { try joined(texts, by: "-") }
        let error = #expect(throws: LarderError.self) { try joined(texts + [("a", nil)], by: "") }
        #expect(error?.code == .resourceExhausted)
        #expect(error?.message == "join would return a text of more than 16 MiB")
    }

    @Test("the largest number of texts is joined, and one more is refused")
    func most() throws {
        var texts = JoinedTexts()
        for _ in 0..<JoinedTexts.countMax { texts.add("", at: nil) }
        #expect(try texts.text(separatedBy: "", .never) == "")
        texts.add("", at: nil)
        let error = #expect(throws: LarderError.self) {
            try texts.text(separatedBy: "", .never)
        }
        #expect(error?.code == .resourceExhausted)
        #expect(error?.message == "join takes at most 1048576 texts of a collection")
    }
}
