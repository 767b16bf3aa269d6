import FoundationEssentials
import LarderModel
import TestSupport
import Testing

@Suite("Values")
struct ValueTests {
    /// `text TYPE REST` and `json TYPE REST` parse a value, which is shown as Swift, text and JSON.
    @Test("values are parsed from text and JSON, or rejected with the expected form")
    func scripts() throws {
        try runScripts(in: "values") { command in
            let words = command.split(separator: " ", maxSplits: 2)
            let type = try #require(AttributeType(rawValue: String(words[1])))
            let rest = words.count > 2 ? String(words[2]) : ""
            let value =
                words[0] == "json"
                ? try Value(json: JSONValue(parsing: rest), type: type)
                : try Value(text: rest, type: type)
            return "\(value.shape) \(value.text)\njson \(value.jsonValue.text)"
        }
    }

    @Test("a conversion of a value that would lose information returns nil")
    func conversion() throws {
        let exact = Int64(1) << 53
        #expect(Value.int(exact).converted(to: .double) == .double(9_007_199_254_740_992))
        #expect(Value.int(exact + 1).converted(to: .double) == nil)
        #expect(Value.int(16_777_216).converted(to: .float) == .float(16_777_216))
        #expect(Value.int(16_777_217).converted(to: .float) == nil)
        #expect(Value.int(.max).converted(to: .decimal) == .decimal(Decimal(Int64.max)))
        #expect(Value.int(40_000).converted(to: .int16) == nil)
        #expect(Value.int(40_000).converted(to: .int32) == .int(40_000))
        #expect(Value.int(3_000_000_000).converted(to: .int32) == nil)
        #expect(Value.double(1e300).converted(to: .float) == nil)
        #expect(Value.double(0.1).converted(to: .float) == .float(0.1))
        #expect(Value.double(-.infinity).converted(to: .float) == .float(-.infinity))
        #expect(Value.double(0.1).converted(to: .decimal)?.text == "0.1")
        #expect(Value.double(.infinity).converted(to: .decimal) == nil)
        #expect(Value.double(1e200).converted(to: .decimal) == nil)
        #expect(Value.double(1).converted(to: .int64) == nil)
        #expect(Value.float(0.5).converted(to: .double) == .double(0.5))
        #expect(Value.bool(true).converted(to: .int16) == nil)
        #expect(Value.string("1").converted(to: .int64) == nil)
        for type in AttributeType.allCases {
            #expect(Value.null.converted(to: type) == .null)
            #expect(Value.double(.nan).converted(to: type) == nil)
            #expect(Value.float(.nan).converted(to: type) == nil)
        }
    }

    @Test("the text and the JSON of a value parse to an equal value")
    func roundTrip() throws {
        var generator = SeededGenerator.fromEnvironment("values")
        for _ in 0..<RandomTesting.iterations() {
            for (type, value) in Self.randomValues(&generator) {
                #expect(try Value(text: value.text, type: type) == value, "\(type) \(value.text)")
                let json = try JSONValue(parsing: value.jsonValue.text)
                #expect(try Value(json: json, type: type) == value, "\(type) \(json.text)")
            }
        }
    }

    static func randomValues(
        _ generator: inout SeededGenerator
    ) -> [(AttributeType, Value)] {
        let bits = generator.next()
        let double = Double(bitPattern: bits)
        let float = Float(bitPattern: UInt32(truncatingIfNeeded: bits))
        let decimal = Decimal(Int64(bitPattern: bits)) / (bits.isMultiple(of: 3) ? 1000 : 8)
        var text = String.UnicodeScalarView()
        for _ in 0..<(bits % 8) {
            text.append(Fuzzing.alphabet.randomElement(using: &generator) ?? "x")
        }
        return [
            (.int64, .int(Int64(bitPattern: bits))),
            (.double, .double(double.isNaN ? 0 : double)),
            (.float, .float(float.isNaN ? 0 : float)),
            (.decimal, .decimal(decimal)),
            (.string, .string(String(text))),
            (.data, .data(Data(String(text).utf8))),
        ]
    }
}

extension Value {
    /// The name of the case. Only nil has no associated value.
    fileprivate var shape: String { Mirror(reflecting: self).children.first?.label ?? "null" }
}
