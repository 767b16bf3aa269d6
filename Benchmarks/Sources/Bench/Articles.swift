/// Articles: titles and bodies of words, few of which are frequent. Each is computed from the
/// number of an article, from 1; `Peers/C/articles.h` computes the same.
enum Articles {
    static let properties = ["title", "body"]

    /// - Parameters:
    ///   - bodyOptions: Further keys of the attribute `body`.
    ///   - entityOptions: Further keys of the entity.
    static func schema(_ bodyOptions: String, _ entityOptions: String) -> String {
        """
        { "version": "1.0.0",
          "entities": [
            { "name": "Article"\(entityOptions),
              "attributes": [
                { "name": "title", "type": "string" },
                { "name": "body", "type": "string"\(bodyOptions) } ] },
            { "name": "Category",
              "attributes": [ { "name": "name", "type": "string" } ] } ] }
        """
    }

    static func row(_ number: Int) -> [String] {
        [text(number, 0..<6), text(number, 6..<22)]
    }

    /// Words whose numbers are below a random power of two.
    private static func text(_ number: Int, _ places: Range<Int>) -> String {
        var text: [UInt8] = []
        for place in places {
            var x = UInt64(number) &* 0x9E37_79B9_7F4A_7C15
            x &+= UInt64(place) &* 0xBF58_476D_1CE4_E5B9
            x = (x ^ x >> 31) &* 0x94D0_49BB_1331_11EB
            x ^= x >> 29
            if place > places.lowerBound { text.append(UInt8(ascii: " ")) }
            appendWord(Int((x >> 8) % (1 << (x & 15))), to: &text)
        }
        return String(decoding: text, as: UTF8.self)
    }

    private static let consonants = Array("bdfghklmnprstvwz".utf8)
    private static let vowels = Array("aeio".utf8)

    private static func appendWord(_ number: Int, to text: inout [UInt8]) {
        var number = number
        for _ in 0..<3 {
            text.append(consonants[number % 16])
            text.append(vowels[number / 16 % 4])
            number /= 64
        }
    }
}
