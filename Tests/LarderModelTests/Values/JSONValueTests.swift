import FoundationEssentials
import LarderModel
import TestSupport
import Testing

@Suite("JSON")
struct JSONValueTests {
    @Test("each form of JSON is parsed, and written on one line with sorted keys")
    func eachForm() throws {
        let text = """
            { "b" : [ 1, -2.5, true, false, null ],
              "a" : { "" : "\\u0041\\uD83D\\uDE00\\n\\/" }, "c": 12345678901234567890.5 }
            """
        let value = try JSONValue(parsing: text)
        #expect(
            value
                == .object([
                    "a": .object(["": .string("A😀\n/")]),
                    "b": .array([.integer(1), .double(-2.5), .bool(true), .bool(false), .null]),
                    "c": .decimal("12345678901234567890.5"),
                ]))
        #expect(
            value.text
                == #"{"a":{"":"A😀\n/"},"b":[1,-2.5,true,false,null],"c":12345678901234567890.5}"#)
    }

    @Test("numbers in JSON keep all digits")
    func numbers() throws {
        for (text, value) in [
            ("9223372036854775807", JSONValue.integer(.max)),
            ("-9223372036854775808", .integer(.min)),
            ("9223372036854775808", .decimal("9223372036854775808")),
            ("1.0", .double(1)), ("1e2", .double(100)), ("1E-7", .double(1e-7)),
            ("-0", .double(-0.0)), ("0.30000000000000004", .double(0.30000000000000004)),
            ("0.1000000000000000000001", .decimal("0.1000000000000000000001")),
            ("1e400", .decimal("1e400")), ("1e-400", .decimal("1e-400")),
            ("1e99999999999999999999", .decimal("1e99999999999999999999")),
        ] {
            #expect(try JSONValue(parsing: text) == value)
        }
    }

    @Test("invalid JSON is rejected with its line and column")
    func malformed() throws {
        for (text, message) in [
            ("", "line 1, column 1: expected a value, but the text ends"),
            ("{\n  \"a\": tru }", "line 2, column 8: expected a value"),
            ("{\"a\":1,\n\"é\":2,\"a\":3}", "line 2, column 7: duplicate key"),
            ("[1,]", "line 1, column 4: expected a value"),
            ("[1 2]", "line 1, column 4: expected `,` or `]`"),
            ("{\"a\" 1}", "line 1, column 6: expected `:`"),
            ("{a:1}", "line 1, column 2: expected a key in quotation marks"),
            ("{\"a\":1", "line 1, column 7: expected `,` or `}`, but the text ends"),
            ("\"a", "line 1, column 3: expected a closing quotation mark, but the text ends"),
            ("\"\u{1}\"", "line 1, column 2: a control character in a string must be escaped"),
            ("\"\\x\"", "line 1, column 3: unknown escape sequence"),
            ("\"\\u12\"", "line 1, column 4: expected four hexadecimal digits"),
            ("\"\\u+123\"", "line 1, column 4: expected four hexadecimal digits"),
            ("\"\\uD83D\"", "line 1, column 8: expected the second half of a surrogate pair"),
            ("\"\\uDE00\"", "line 1, column 8: a surrogate pair is incomplete"),
            ("01", "line 1, column 1: a number must not have leading zeros"),
            ("-", "line 1, column 2: expected a digit, but the text ends"),
            ("1.", "line 1, column 3: expected a digit, but the text ends"),
            ("1e+", "line 1, column 4: expected a digit, but the text ends"),
            (".5", "line 1, column 1: expected a value"),
            ("NaN", "line 1, column 1: expected a value"),
            ("1 x", "line 1, column 3: expected the end of the text"),
        ] {
            let error = #expect(throws: LarderError.self, "\(text)") {
                try JSONValue(parsing: text)
            }
            #expect(error?.code == .malformedValue)
            #expect(error?.message == "JSON, \(message)")
        }
    }

    @Test("JSON of 64 levels is accepted, and 65 or a million levels are rejected")
    func depth() throws {
        func nested(_ levels: Int) -> String {
            String(repeating: "[", count: levels) + String(repeating: "]", count: levels)
        }
        _ = try JSONValue(parsing: nested(Limits.jsonDepthMax))
        for levels in [Limits.jsonDepthMax + 1, 1_000_000] {
            #expect(throws: LarderError.self) { try JSONValue(parsing: nested(levels)) }
        }
    }

    @Test("a damaged JSON document is rejected, or its text parses to an equal one")
    func fuzz() throws {
        var generator = SeededGenerator.fromEnvironment("json")
        let sample = #"{"a":[1,-2.5e+3,"x\u00e9\n",{}],"b":{"c":null,"d":[true,false]},"e":1e400}"#
        for _ in 0..<RandomTesting.iterations() {
            let text = Fuzzing.mutated(sample, alphabet: Fuzzing.alphabet, using: &generator)
            do throws(LarderError) {
                let value = try JSONValue(parsing: text)
                #expect(try JSONValue(parsing: value.text) == value)
            } catch {
                #expect(error.code == .malformedValue)
            }
        }
    }
}
