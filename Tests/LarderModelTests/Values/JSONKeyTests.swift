import Glibc
import LarderModel
import TestSupport
import Testing

@Suite("The order of JSON values") struct JSONKeyTests {
    /// Each line has equal values, and the lines are in their order.
    private static let order = [
        ["null"], ["false"], ["true"],
        ["-1e1000000000000000000", "-10e1000000000000000000"],
        ["-1e400"], ["-10"], ["-9.5", "-95e-1"], ["-9"], ["-0.1"], ["-1e-400"],
        ["0", "-0", "0.0", "-0.0", "0e5"],
        ["1e-400", "0.1e-399"], ["0.1", "1e-1", "0.10"], ["0.10000000000000000001"],
        ["1", "1.0", "100e-2", "0.01e2"], ["9"], ["10", "1e1", "10.00"],
        ["9007199254740992"], ["9007199254740993", "9007199254740993.0"],
        ["9223372036854775807"], ["9223372036854775808", "9223372036854775808.0"],
        ["1e21"], ["1e22"], ["1e400", "10e399"],
        ["1e1000000000000000000", "1e9999999999999999999"],
        [#""""#], [#""\u0000""#], [#""\u0000a""#], [#""\t""#], [#""!""#], [#""10""#], [#""9""#],
        [#""Ann""#, #""\u0041nn""#], [#""Ann\u0000""#], [#""Ann Lee""#], [#""Ann!""#],
        [#""é""#, #""e\u0301""#, #""\u00e9""#],
        [#""\ud7ff""#], [#""\ue000""#], [#""\ud800\udc00""#],
        ["[]", "[ ]"], ["[null]"], ["[1]", "[1.0]"], ["[1,null]"], ["[1,2]"], ["[2]"],
        [#"["a"]"#], [#"["a",1]"#], [#"["aa"]"#], ["[[]]"], ["[{}]"],
        ["{}"], [#"{"a":1}"#, #"{ "a" : 1.0 }"#], [#"{"a":1,"b":2}"#, #"{"b":2,"a":1}"#],
        [#"{"a":2}"#], [#"{"b":0}"#],
    ]

    @Test("JSON values are ordered by type and then by value, whatever their texts are")
    func order() {
        let keys = Self.order.map { line in line.map { JSONKey(text: $0) } }
        for (index, line) in keys.enumerated() {
            for (other, others) in keys.enumerated() {
                for (one, two) in line.flatMap({ one in others.map { (one, $0) } }) {
                    let expected = index < other ? -1 : index == other ? 0 : 1
                    #expect(
                        one.order(to: two) == expected,
                        "\(Self.order[index]) and \(Self.order[other])")
                }
            }
        }
    }

    @Test("the text of a key is JSON with the same key, and equal for equal values")
    func text() {
        for line in Self.order {
            let texts = Set(line.map { JSONKey(text: $0).text })
            #expect(texts.count == 1, "\(line)")
            for text in texts {
                #expect(JSONKey(text: text) == JSONKey(text: line[0]), "\(text)")
                #expect(throws: Never.self) { try JSONValue(parsing: text) }
            }
        }
        for (given, text) in [
            ("1.0", "1"), ("-0.0", "0"), ("1.50", "1.5"), ("1e3", "1000"), ("1e21", "1e21"),
            ("123e19", "1.23e21"), ("12e-7", "0.0000012"), ("12e-8", "1.2e-7"),
            ("100000000000000000000", "100000000000000000000"), ("-1234.5", "-1234.5"),
            (#"{"b": [1.0], "a": "e\u0301"}"#, #"{"a":"é","b":[1]}"#),
        ] {
            #expect(JSONKey(text: given).text == text)
        }
    }

    @Test("the keys of random numbers have the order of the numbers")
    func numbers() {
        var random = SeededGenerator.fromEnvironment("JSON keys")
        func number() -> Double {
            let scale = Double.random(in: -30...30, using: &random)
            return Double.random(in: -1...1, using: &random) * exp(scale)
        }
        for _ in 0..<RandomTesting.iterations() {
            let (one, other) = (number(), number())
            let order = JSONKey(.double(one)).order(to: JSONKey(.double(other)))
            #expect(order == (one < other ? -1 : one == other ? 0 : 1), "\(one) and \(other)")
            let integer = Int64.random(in: .min ... .max, using: &random)
            let key = JSONKey(.integer(integer))
            #expect(key.text == "\(integer)")
            #expect(key.order(to: JSONKey(.integer(integer &+ 1))) == (integer == .max ? 1 : -1))
        }
    }

    @Test("bytes that are no key have a text, too")
    func damaged() {
        var random = SeededGenerator.fromEnvironment("damaged JSON keys")
        for line in Self.order {
            var bytes = JSONKey(text: line[0]).bytes
            bytes.removeLast(Int.random(in: 0...bytes.count, using: &random))
            if let index = bytes.indices.randomElement(using: &random) {
                bytes[index] = UInt8.random(in: 0...255, using: &random)
            }
            _ = JSONKey(bytes: bytes).text
        }
    }
}
