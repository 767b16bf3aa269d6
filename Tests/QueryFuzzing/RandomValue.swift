import FoundationEssentials
import LarderModel
import TestSupport

/// Generates values of every type. Extreme values are as likely as common ones.
enum RandomValue {
    /// - Parameter isStored: Whether an attribute can hold the value: not NaN, and within the range
    ///   of the type.
    static func value(
        of type: AttributeType, isStored: Bool = true, _ random: inout SeededGenerator
    ) -> Value {
        switch type {
        case .bool: .bool(.random(using: &random))
        case .int16, .int32, .int64: .int(integer(type, &random))
        case .float: .float(random.pick(floats) ?? 0)
        case .double: .double(random.pick(doubles) ?? 0)
        case .decimal: .decimal(decimal(&random))
        case .string: .string(text(&random))
        case .date: .date(Date(timeIntervalSinceReferenceDate: random.pick(seconds) ?? 0))
        case .uuid: uuid(&random)
        case .url: url(&random)
        case .data: .data(Data(random.pick(bytes) ?? []))
        case .json: .json(random.pick(documents) ?? "{}")
        }
    }

    private static func integer(
        _ type: AttributeType, _ random: inout SeededGenerator
    ) -> Int64 {
        if !random.once(in: 4) { return Int64(random.number(-4...9)) }
        switch type {
        case .int16: return Int64(random.pick([Int16.min, .max, -1, 255, 256]) ?? 0)
        case .int32: return Int64(random.pick([Int32.min, .max, -1, 65_536, 32_768]) ?? 0)
        default: return random.pick(integers) ?? 0
        }
    }

    static let integers: [Int64] = [
        .min, .min + 1, .max, .max - 1, -1, 1 << 53, (1 << 53) + 1, (1 << 53) - 1, -(1 << 53) - 1,
        1 << 62, 16_777_217, 63, 64, 65, 3_000_000_000, 1_000_000_007,
    ]

    static let doubles: [Double] = [
        0, -0.0, 1, -1, 2, 3, 4, 0.5, -0.5, 1.5, 2.5, -2.5, 0.1, 1e-7, 1e300, -1e300, .infinity,
        -.infinity, .greatestFiniteMagnitude, .leastNonzeroMagnitude, .leastNormalMagnitude,
        9_007_199_254_740_991, 9_007_199_254_740_992, 9_007_199_254_740_994,
        -9_007_199_254_740_992, 9_223_372_036_854_775_808, -9_223_372_036_854_775_808,
        9_223_372_036_854_774_784, 1e19, 16_777_216, 4_611_686_018_427_387_904, 0.30000000000000004,
    ]

    static let floats: [Float] = [
        0, -0.0, 1, -1, 2, 3, 0.5, -0.5, 1.5, 2.5, 0.1, 0.3, 16_777_216, -16_777_216, 1e30,
        .infinity, -.infinity, .greatestFiniteMagnitude, .leastNonzeroMagnitude,
        9_007_199_254_740_992, 9_223_372_036_854_775_808,
    ]

    private static func decimal(_ random: inout SeededGenerator) -> Decimal {
        let plain = [
            "0", "1", "-1", "2", "3", "0.1", "0.10", "1.5", "2.5", "-2.5", "9.99", "10", "9", "1e3",
        ]
        let extreme = [
            "99999999999999999999999999999999999999", "-99999999999999999999999999999999999999",
            "1e100", "-1e100", "1e-100", "1e127", "9223372036854775807", "9223372036854775808",
            "9007199254740993", "9007199254740992.5", "0.00000000000000000000000000000000000001",
            "12345678901234567890.123456789012345678", "9223372036854775807.5",
        ]
        let text = random.pick(random.once(in: 3) ? extreme : plain) ?? "0"
        return Decimal(exactly: text) ?? 0
    }

    static let seconds: [Double] = [
        0, 1, -1, 0.5, 86_400, 86_399.999, -86_400, 700_000_000, 700_000_000.25, 7_200,
        -63_114_076_800, 252_423_993_599, -978_307_200, 1e15, -1e15, 3_155_673_600, 5_097_600,
    ]

    /// A decomposed and a composed string are equal; a scalar next to the surrogates sorts
    /// differently in UTF-16.
    static let texts: [String] = [
        "", "a", "A", "ab", "AB", "aB", "abc", "b", "e", "é", "e\u{301}", "É", "E\u{301}", "éa",
        "e\u{301}x", "q\u{301}", "q", "Straße", "STRASSE", "strasse", "ß", "ss", "ı", "i", "I", "İ",
        "i\u{307}", "日本", "日", "\u{D7FF}", "\u{E000}", "\u{FFFF}", "\u{10000}", "\u{10FFFF}",
        "👩‍👩‍👧", "👩", "👩🏽", "🇩🇪", "🇩", "\u{1F1E9}\u{1F1EA}\u{1F1E9}", "a\u{323}\u{307}",
        "a\u{307}\u{323}", "ạ̇", "\r\n", "\r", "\n", "a\nb", "%", "_", "a*", "a?", "\\", "a\\*", "ﬁ",
        "fi", "Σ", "σ", "ς", "Å", "\u{212B}", "A\u{30A}", "가", "\u{1100}\u{1161}", "\u{301}",
        "Article 9", "Article 10", "article 9", " ", "a b", "\u{200D}", "\u{FEFF}a", "ǅ", "\u{345}",
        "ᾳ", "10", "9", "09",
    ]

    private static func text(_ random: inout SeededGenerator) -> String {
        let one = random.pick(texts) ?? ""
        return random.once(in: 5) ? one + (random.pick(texts) ?? "") : one
    }

    private static func uuid(_ random: inout SeededGenerator) -> Value {
        let known = [
            "00000000-0000-0000-0000-000000000000", "FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF",
            "7F000000-0000-0000-0000-000000000001", "80000000-0000-0000-0000-000000000001",
        ]
        return UUID(uuidString: random.pick(known) ?? "").map { .uuid($0) } ?? .null
    }

    private static func url(_ random: inout SeededGenerator) -> Value {
        let known = [
            "https://example.org/", "https://example.org/a", "https://example.org/%C3%A9",
            "mailto:a@example.org", "file:///a", "HTTPS://example.org/",
        ]
        return URL(string: random.pick(known) ?? "").map { .url($0) } ?? .null
    }

    private static let bytes: [[UInt8]] = [[], [0], [0, 0], [255], [127], [1, 2, 3], [0x61]]

    static let documents: [String] = [
        "{}", "null", "true", "1", "\"a\"", "[]", #"{"a":1}"#, #"{"a":1.5}"#, #"{"a":"x"}"#,
        #"{"a":true}"#, #"{"a":false,"b":{"c":2}}"#, #"{"a":null}"#, #"{"b":{"c":"é"}}"#,
        #"{"b":{"c":"e\u0301"}}"#, #"{"a":9223372036854775807}"#, #"{"a":1e400}"#,
        #"{"a":[1,2]}"#, #"{"a":"2026-01-31T08:15:00Z"}"#, #"{"a":-0.0}"#,
        #"[{"a":1}]"#, #"{"b":{"c":9007199254740993}}"#, #"{"a":18446744073709551616}"#,
        #"{"b":{"c":2.0}}"#, #"{"a":""}"#, #"{"b":[]}"#, #"{"a":9}"#, #"{"a":10}"#,
        #"{"a":1.0}"#, #"{"a":100e-2}"#, #"{"a":0.1}"#, #"{"a":0.10000000000000000001}"#,
        #"{"a":-1e400}"#, #"{"a":1e-400}"#, #"{"a":9007199254740993.0}"#, #"{"a":"Ann"}"#,
        #"{"a":"Ann Lee"}"#, #"{"a":"Ann!"}"#, #"{"a":"\t"}"#, #"{"a":"\u0000"}"#, #"{"a":"9"}"#,
        #"{"a":"7F000000-0000-0000-0000-000000000001"}"#, "[1,1.0,10,9,-2.5]", "10", "9", "1.0",
        #"{"a":[1,"x",null,1.0,true],"b":{"c":["é","e\u0301",2,"9"]}}"#, #"["Ann","x","Ann"]"#,
        #"{"a":[[1],[1.0],{"k":1}]}"#, #"{"a":{"k":1,"l":[2]}}"#, #"{"a":{"l":[2.0],"k":1.0}}"#,
        #"{"a":9.99,"b":{"c":[0.1,1e400]}}"#, #"{"a":9223372036854775808}"#, "\"Ann Lee\"",
    ]
}
