import LarderModel
import LarderQuery
import TestSupport
import Testing

/// Compares the operators over bytes with the same operators over Swift's characters.
@Suite("A prepared string operator")
struct StringOperatorTests {
    private static let operators: [Comparison.Operator] = [
        .contains, .beginsWith, .endsWith, .like,
    ]
    private static let optionSets: [Comparison.Options] = [
        [], .caseInsensitive, .diacriticInsensitive, [.caseInsensitive, .diacriticInsensitive],
    ]

    /// Parts of which texts are made: usual letters, and scalars that combine with their neighbors.
    private static let alphabets: [[String]] = [
        ["a", "b", "A", "B", " ", "?", "*", "\\", "ab"],
        ["a", "B", "é", "É", "e\u{301}", "ß", "ẞ", "ss", "ſ", "İ", "ı", "I", "i\u{307}", "ŉ", "ﬁ"],
        ["σ", "Σ", "ς", "ά", "\u{1F71}", "ᾳ", "ΐ", "й", "и", "И", "Ё", "е", "\u{483}"],
        ["가", "\u{1100}", "\u{1161}", "\u{11A8}", "각", "が", "か", "\u{3099}", "日", "Ａ", "ａ"],
        ["👩", "🏽", "\u{200D}", "👧", "👩🏽", "👩‍👧", "🇩", "🇪", "🇩🇪", "❤", "\u{FE0F}", "😀", "a"],
        ["\r", "\n", "\r\n", "a", "é", "?", "*", "x"],
        ["\u{600}", "a", "\u{301}", "\u{323}", "क", "\u{94D}", "ष", "\u{200D}", "é", "1"],
    ]

    private static func text(
        _ alphabet: [String], _ count: Int, _ random: inout SeededGenerator
    ) -> String {
        var text = ""
        for _ in 0..<Int.random(in: 0...count, using: &random) {
            text += alphabet.randomElement(using: &random) ?? "a"
        }
        return text.normalized
    }

    /// Some of the text's scalars, or other ones.
    private static func pattern(
        of text: String, _ alphabet: [String], _ random: inout SeededGenerator
    ) -> String {
        guard Bool.random(using: &random) else { return self.text(alphabet, 3, &random) }
        let scalars = Array(text.unicodeScalars)
        let start = Int.random(in: 0...scalars.count, using: &random)
        let end = Int.random(in: start...scalars.count, using: &random)
        var part = String(String.UnicodeScalarView(scalars[start..<min(end, start + 4)]))
        if Int.random(in: 0..<3, using: &random) == 0 { part = part.uppercased() }
        if Int.random(in: 0..<3, using: &random) == 0 { part = "*\(part)*" }
        if Int.random(in: 0..<4, using: &random) == 0 { part += "?" }
        return part.normalized
    }

    private static func expected(
        _ text: String, _ name: Comparison.Operator, _ pattern: String,
        _ options: Comparison.Options
    ) -> Bool {
        func characters(_ text: String) -> [Character] {
            Array(
                text.folded(
                    caseInsensitive: options.contains(.caseInsensitive),
                    diacriticInsensitive: options.contains(.diacriticInsensitive)))
        }
        let (text, pattern) = (characters(text), characters(pattern))
        return switch name {
        case .beginsWith: text.starts(with: pattern)
        case .endsWith: text.suffix(pattern.count).elementsEqual(pattern)
        case .like: StringMatchingTests.plainLike(text[...], pattern[...])
        default: (0...text.count).contains { text[$0...].starts(with: pattern) }
        }
    }

    @Test("a prepared string operator agrees with characters for random texts of every script")
    func againstCharacters() throws {
        var random = SeededGenerator.fromEnvironment("string operators")
        let everything = Self.alphabets.flatMap { $0 }
        for _ in 0..<RandomTesting.iterations() {
            for alphabet in Self.alphabets + [everything] {
                let text = Self.text(alphabet, 14, &random)
                let pattern = Self.pattern(of: text, alphabet, &random)
                for name in Self.operators {
                    for options in Self.optionSets {
                        let prepared = StringOperator(name, pattern, options)
                        let holds = try prepared.holds(text)
                        if holds == Self.expected(text, name, pattern, options) { continue }
                        Issue.record(
                            "\(Array(text.unicodeScalars)) \(name) \(pattern) \(options.rawValue)")
                    }
                }
            }
        }
    }

    @Test("a prepared string operator can match short texts after long ones")
    func manyTexts() throws {
        let prepared = StringOperator(.contains, "straße", [.caseInsensitive])
        let long = String(repeating: "ÄÖÜ ", count: 5_000)
        #expect(try !prepared.holds(long))
        #expect(try prepared.holds(long + "STRASSE"))
        #expect(try prepared.holds("Straße"))
        #expect(try !prepared.holds("Stra"))
        #expect(try !prepared.holds(""))
    }

    @Test("a text beyond the limit of the folding table is folded by the general rules")
    func longText() throws {
        let text = String(repeating: "é", count: 600_000)
        #expect(
            try StringOperator(.endsWith, "EE", [.caseInsensitive, .diacriticInsensitive])
                .holds(text))
        #expect(try !StringOperator(.contains, "ef", [.diacriticInsensitive]).holds(text))
    }

    @Test("a prepared string operator accepts bytes that are not UTF-8")
    func damagedText() throws {
        let texts: [[UInt8]] = [
            [0xFF], [0xC3], [0xE2, 0x82], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0x61, 0xF5, 0x61],
            [0xF4, 0x90, 0x80, 0x80], [0x80, 0x61],
        ]
        for bytes in texts {
            for name in Self.operators {
                for options in Self.optionSets {
                    for pattern in ["", "a", "é", "?", "*a", "\u{FFFD}"] {
                        _ = try StringOperator(name, pattern, options).holds(bytes.span)
                    }
                    let isFound = try StringOperator(.contains, "", options).holds(bytes.span)
                    #expect(isFound)
                }
            }
        }
    }

    @Test("scalars of every block are counted in characters as Swift does")
    func everyScalar() {
        for scalar in Unicode.Scalar.tried {
            // The longer text has it where sixteen bytes are counted at once.
            for (start, end) in [("", ""), ("größe", " и ещё несколько слов")] {
                let text = "\(start)a\(scalar)\(scalar)é가\(end)".normalized
                let count = Array(text.utf8).span.characterCount
                if count != text.count { Issue.record("U+\(String(scalar.value, radix: 16))") }
            }
        }
    }

    @Test("the characters of random texts are counted as Swift does")
    func characterCount() {
        var random = SeededGenerator.fromEnvironment("character counts")
        for _ in 0..<RandomTesting.iterations() {
            for alphabet in Self.alphabets {
                let text = Self.text(alphabet, 40, &random)
                let count = Array(text.utf8).span.characterCount
                #expect(count == text.count, "\(text.debugDescription)")
            }
        }
    }

    @Test("the characters of texts with damaged bytes are counted as Swift does")
    func characterCountOfDamagedText() {
        var random = SeededGenerator.fromEnvironment("damaged texts")
        let letters = Array("größe, погода\r\n世界 라더 wint\u{D77F}\u{AC00}".utf8)
        for _ in 0..<2_000 {
            var bytes = letters + letters
            for _ in 0..<Int.random(in: 0...2, using: &random) {
                let index = Int.random(in: 0..<bytes.count, using: &random)
                bytes[index] = UInt8.random(in: 0...255, using: &random)
            }
            let text = String(decoding: bytes, as: UTF8.self)
            #expect(bytes.span.characterCount == text.count, "\(bytes)")
        }
    }
}

@Suite("Folded forms of usual scalars")
struct TextFolderTests {
    private static let optionSets: [Comparison.Options] = [
        .caseInsensitive, .diacriticInsensitive, [.caseInsensitive, .diacriticInsensitive],
    ]

    private static func folded(_ text: String, _ folder: TextFolder) -> [UInt8] {
        let bytes = Array(text.utf8)
        return folder.folded(bytes.span).map { Array($0) } ?? bytes
    }

    @Test("the table of folded scalars agrees with the general rules for every block")
    func everyScalar() {
        for options in Self.optionSets {
            let folder = TextFolder(options)
            for scalar in Unicode.Scalar.tried {
                for text in ["\(scalar)", "a\(scalar)Z", "É\(scalar)か"] {
                    let text = text.normalized
                    let expected = Array(text.folded(options).utf8)
                    if Self.folded(text, folder) != expected {
                        let code = String(scalar.value, radix: 16)
                        Issue.record("U+\(code) with \(options.rawValue)")
                    }
                }
            }
        }
    }

    @Test("the table of folded scalars agrees with the general rules for random texts")
    func randomTexts() {
        var random = SeededGenerator.fromEnvironment("folded texts")
        // Latin, Greek and Cyrillic letters, their marks, and kana.
        let ranges: [ClosedRange<UInt32>] = [
            0x20...0x7E, 0xA0...0x52F, 0x1E00...0x1FFF, 0x3041...0x30FF,
        ]
        for _ in 0..<RandomTesting.iterations() {
            var scalars = String.UnicodeScalarView()
            for _ in 0..<20 {
                guard let range = ranges.randomElement(using: &random),
                    let scalar = Unicode.Scalar(UInt32.random(in: range, using: &random))
                else { continue }
                scalars.append(scalar)
            }
            let text = String(scalars).normalized
            for options in Self.optionSets {
                #expect(
                    Self.folded(text, TextFolder(options)) == Array(text.folded(options).utf8),
                    "\(text.debugDescription) \(options.rawValue)")
            }
        }
    }
}

@Suite("A search for bytes")
struct ByteSearchTests {
    @Test("a search for bytes finds the first occurrence, as a naive search does")
    func againstNaive() {
        var random = SeededGenerator.fromEnvironment("byte search")
        for _ in 0..<10 * RandomTesting.iterations() {
            let alphabet = Array("ab".utf8) + (Bool.random(using: &random) ? [0, 0x80, 0xFF] : [])
            func bytes(_ count: Int) -> [UInt8] {
                (0..<Int.random(in: 0...count, using: &random)).map { _ in
                    alphabet.randomElement(using: &random) ?? 0
                }
            }
            let (text, part) = (bytes(40), bytes(6))
            let start = Int.random(in: 0...text.count, using: &random)
            let expected = (start...text.count).first { text[$0...].starts(with: part) }
            var interruption = Interruption.never
            let found = ByteSearch(part).offset(in: text.span, from: start, &interruption)
            #expect(found == expected, "\(text) \(part) from \(start)")
        }
    }

    @Test("a search for bytes that almost match everywhere takes linear time")
    func linear() {
        let text = [UInt8](repeating: 0x61, count: 1_000_000)
        let part = [UInt8](repeating: 0x61, count: 100_000) + [0x62] + text.prefix(100_000)
        var interruption = Interruption.never
        let missing = ByteSearch(part).offset(in: text.span, from: 0, &interruption)
        let found = ByteSearch(part).offset(in: (text + part).span, from: 0, &interruption)
        #expect(missing == nil)
        #expect(found == 1_000_000 - 0)
    }

    @Test("a search for bytes ends after an interruption")
    func interrupted() {
        let text = [UInt8](repeating: 0x61, count: 1_000_000) + [0x62]
        var looks = 0
        var interruption = Interruption {
            looks += 1
            return looks > 2
        }
        let found = ByteSearch([0x62]).offset(in: text.span, from: 0, &interruption)
        #expect(found == nil)
        #expect(looks == 3)
    }
}
