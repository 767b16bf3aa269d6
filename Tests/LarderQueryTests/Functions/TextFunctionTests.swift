import LarderModel
import TestSupport
import Testing

@Suite("Functions of strings")
struct TextFunctionTests {
    private func value(_ function: ScalarFunction, _ operands: [Value]) throws -> Value {
        try function.value(of: operands, now: .init(timeIntervalSinceReferenceDate: 0))
    }

    @Test(
        "substring takes characters by index, from the end if it is negative",
        arguments: [
            ("Wörter", 0, nil, "Wörter"), ("Wörter", 2, nil, "rter"), ("Wörter", 1, 2, "ör"),
            ("Wörter", -2, nil, "er"), ("Wörter", -2, 1, "e"), ("Wörter", 6, nil, ""),
            ("Wörter", 60, 2, ""), ("Wörter", 0, 0, ""), ("Wörter", 0, -1, ""),
            // Indexes before the string have no characters.
            ("abc", -5, 3, "a"), ("abc", -5, nil, "abc"), ("abc", -5, 2, ""),
            ("abc", .min, .max, "ab"), ("abc", -5, .max, "abc"), ("abc", .max, .max, ""),
            ("abc", 1, .max, "bc"),
            ("e\u{301}👩‍👩‍👧🇩🇪x", 1, 2, "👩‍👩‍👧🇩🇪"), ("a\r\nb", 1, 1, "\r\n"), ("", 0, 1, ""),
        ] as [(String, Int64, Int64?, String)])
    func substring(text: String, start: Int64, count: Int64?, expected: String) throws {
        let operands = [Value.string(text), .int(start)] + (count.map { [.int($0)] } ?? [])
        #expect(try value(.substring, operands) == .string(expected))
    }

    @Test(
        "split returns the part at an index, and nil if there is none",
        arguments: [
            ("Ann Lee", " ", 0, "Ann"), ("Ann Lee", " ", 1, "Lee"), ("Ann Lee", " ", 2, nil),
            ("Ann Lee", " ", -1, "Lee"), ("Ann Lee", " ", -2, "Ann"), ("Ann Lee", " ", -3, nil),
            ("Ann", " ", 0, "Ann"), ("Ann", " ", -1, "Ann"), ("", " ", 0, ""), (",,", ",", 1, ""),
            ("a--b---c", "--", 2, "-c"), ("aaa", "aa", 0, ""), ("aaa", "aa", 1, "a"),
            ("abc", "", 0, "abc"), ("abc", "", 1, nil), ("abc", "x", .max, nil),
            ("abc", "x", .min, nil), ("a\r\nb", "\n", 0, "a\r\nb"), ("éxe\u{301}", "e", 0, "éxé"),
            ("日本日語", "日", -1, "語"),
        ] as [(String, String, Int64, String?)])
    func split(text: String, separator: String, index: Int64, expected: String?) throws {
        #expect(
            try value(.split, [.string(text), .string(separator), .int(index)])
                == (expected.map { .string($0) } ?? .null))
    }

    @Test(
        "replace and the trim functions work on characters",
        arguments: [
            (.replace, ["banana", "an", "-"], "b--a"), (.replace, ["aaa", "aa", "b"], "ba"),
            (.replace, ["abc", "", "x"], "abc"), (.replace, ["abc", "b", ""], "ac"),
            // An accent alone is no part of a character, but may become one.
            (.replace, ["éa", "e", "x"], "éa"), (.replace, ["ex", "x", "\u{301}"], "é"),
            (.trim, [" \t\n a b\u{3000}"], "a b"), (.trimStart, [" a "], "a "),
            (.trimEnd, [" a "], " a"), (.trim, ["  "], ""), (.trim, [""], ""),
            (.trimStart, ["  "], ""), (.trimEnd, ["  "], ""),
            (.trim, ["--a-b..", "-."], "a-b"), (.trim, [" a ", ""], " a "),
            (.trimEnd, ["xé", "e"], "xé"), (.trimEnd, ["xe\u{301}", "é"], "x"),
        ] as [(ScalarFunction, [String], String)])
    func parts(function: ScalarFunction, operands: [String], expected: String) throws {
        #expect(
            try value(function, operands.map { .string($0) }) == .string(expected))
    }

    @Test(
        "padding adds characters up to a length, and never removes any",
        arguments: [
            (.padStart, "7", 3, "0", "007"), (.padEnd, "7", 3, "0", "700"),
            (.padStart, "7", 6, "ab", "ababa7"), (.padEnd, "7", 4, nil, "7   "),
            (.padStart, "long", 2, "0", "long"), (.padStart, "a", -1, "0", "a"),
            (.padEnd, "a", .min, "0", "a"), (.padEnd, "a", 3, "", "a"),
            (.padStart, "é", 2, "日", "日é"),
        ] as [(ScalarFunction, String, Int64, String?, String)])
    func padding(
        function: ScalarFunction, text: String, length: Int64, pattern: String?, expected: String
    ) throws {
        let operands = [Value.string(text), .int(length)] + (pattern.map { [.string($0)] } ?? [])
        #expect(try value(function, operands) == .string(expected))
    }

    @Test("strings joined by concat are composed, and nil results in nil")
    func concatenation() throws {
        #expect(try value(.concat, ["a", "e", "\u{301}", "b"]) == "aéb")
        #expect(try value(.concat, ["a", .null]) == .null)
        for function in [ScalarFunction.substring, .split, .replace, .padStart, .format] {
            let operands = [Value](repeating: .null, count: function.operandCount.upperBound)
            #expect(try value(function, operands) == .null, "\(function)")
        }
    }

    @Test("a string function whose result is too long is an error, before its memory is taken")
    func tooLong() throws {
        let half = String(repeating: "a", count: Limits.functionTextBytesMax / 2)
        let calls: [(ScalarFunction, [Value])] = [
            (.padStart, ["a", .int(.max), "x"]),
            (.padEnd, ["a", .int(Int64(Limits.functionTextBytesMax) + 1), "x"]),
            (.padEnd, ["", .int(Int64(Limits.functionTextBytesMax) / 2 + 1), "é"]),
            (.concat, [.string(half), .string(half), "x"]),
            (.replace, [.string(half), "a", "bcd"]), (.format, [1, .int(.max)]),
            (.format, [1, .int(Int64(Limits.functionTextBytesMax))]),
        ]
        for (function, operands) in calls {
            #expect("\(function)") {
                _ = try value(function, operands)
            } throws: { error in
                (error as? LarderError)?.code == .resourceExhausted
            }
        }
        #expect(try value(.concat, [.string(half), .string(half)]) == .string(half + half))
        let full = try value(.padEnd, ["a", .int(Int64(Limits.functionTextBytesMax)), "x"])
        guard case .string(let text) = full else {
            Issue.record("\(full)")
            return
        }
        #expect(text.utf8.count == Limits.functionTextBytesMax)
        // A longer text needs no padding.
        #expect(try value(.padStart, [.string(half), 5, "x"]) == .string(half))
    }

    @Test("functions of strings equal those of an array of characters")
    func model() throws {
        var random = SeededGenerator.fromEnvironment("functions of strings")
        let alphabet: [Character] = [
            "a", "b", "c", "A", " ", "-", "é", "日", "👩‍👩‍👧", "🇩🇪", "\r\n", "\n", "\t", "\u{3000}",
        ]
        func text(_ count: ClosedRange<Int>, isASCII: Bool) -> [Character] {
            let letters = isASCII ? alphabet.filter { $0.isASCII && $0 != "\r\n" } : alphabet
            return (0..<Int.random(in: count, using: &random)).map { _ in
                letters.randomElement(using: &random) ?? "a"
            }
        }
        for _ in 0..<RandomTesting.iterations(1_000) {
            let isASCII = Bool.random(using: &random)
            let text1 = text(0...12, isASCII: isASCII)
            let part = text(0...2, isASCII: isASCII)
            let other = text(0...3, isASCII: Bool.random(using: &random))
            let index = Int64.random(in: -8...8, using: &random)
            let count = Int64.random(in: -2...8, using: &random)
            let model = CharacterModel(characters: text1)
            let string = Value.string(String(text1))
            let (separator, replacement) = (Value.string(String(part)), Value.string(String(other)))
            let comment = Comment(rawValue: "\(text1) \(part) \(other) \(index) \(count)")
            #expect(
                try value(.substring, [string, .int(index), .int(count)])
                    == .string(model.substring(Int(index), Int(count))), comment)
            #expect(
                try value(.split, [string, separator, .int(index)])
                    == (model.part(Int(index), part).map { .string($0) } ?? .null), comment)
            #expect(
                try value(.replace, [string, separator, replacement])
                    == .string(
                        model.parts(part).map { String($0) }.joined(separator: String(other))),
                comment)
            #expect(
                try value(.trim, [string, separator]) == .string(model.trimmed(part)), comment)
        }
    }
}

/// The meaning of the functions, on an array of characters.
private struct CharacterModel {
    let characters: [Character]

    func substring(_ start: Int, _ count: Int) -> String {
        let first = start < 0 ? start + characters.count : start
        return String(
            characters.indices.filter { $0 >= first && $0 < first + count }
                .map { characters[$0] })
    }

    func parts(_ separator: [Character]) -> [[Character]] {
        var parts: [[Character]] = [[]]
        var rest = characters[...]
        while let first = rest.first {
            if !separator.isEmpty, rest.starts(with: separator) {
                parts.append([])
                rest = rest.dropFirst(separator.count)
            } else {
                parts[parts.count - 1].append(first)
                rest = rest.dropFirst()
            }
        }
        return parts
    }

    func part(_ index: Int, _ separator: [Character]) -> String? {
        let parts = parts(separator)
        let found = index < 0 ? index + parts.count : index
        return parts.indices.contains(found) ? String(parts[found]) : nil
    }

    func trimmed(_ set: [Character]) -> String {
        let rest = characters.drop { set.contains($0) }
        return String(rest.reversed().drop { set.contains($0) }.reversed())
    }
}
