import FoundationEssentials
import LarderModel
import LarderQuery
import TestSupport
import Testing

@Suite("Members of JSON documents")
struct JSONMemberTests {
    private let document = #"""
        { "a": 1, "text" : "x,]}\"y", "list": [ {"n": 2.5}, [3, 4], "z" ], "empty": {},
          "none": null, "e\u0301": "é", "yes": true, "big": 9007199254740993, "huge": 1e400,
          "whole": 2.0, "digits": 0.12345678901234567890123, "when": "2026-01-31",
          "a b": { "": 7 } }
        """#

    @Test(
        "members of a JSON document are selected by keys and array indexes",
        arguments: [
            ("a", "1"), ("text", #""x,]}\"y""#), ("list.0", #"{"n": 2.5}"#), ("list.0.n", "2.5"),
            ("list.1.1", "4"), ("list.2", #""z""#), ("empty", "{}"), ("none", nil),
            ("missing", nil), ("list.3", nil), ("list.-1", nil), ("list.n", nil), ("a.b", nil),
            ("\u{E9}", #""é""#), ("text.0", nil), ("empty.a", nil), ("whole", "2.0"),
        ] as [(String, String?)])
    func path(path: String, expected: String?) {
        let steps = path.split(separator: ".").map(String.init)
        #expect(JSONMember(of: document, at: steps)?.text == expected)
    }

    @Test("a member of a JSON document is read as the types that its kind allows")
    func types() throws {
        func value(_ key: String, _ type: AttributeType) throws -> Value? {
            try #require(JSONMember(of: document, at: [key])).value(as: type)
        }
        #expect(try value("a", .int64) == 1)
        #expect(try value("a", .double) == 1.0)
        #expect(try value("a", .decimal) == .decimal(1))
        #expect(try value("a", .string) == nil)
        #expect(try value("a", .bool) == nil)
        #expect(try value("whole", .int64) == nil)
        #expect(try value("text", .string) == #"x,]}"y"#)
        #expect(try value("text", .int64) == nil)
        #expect(try value("yes", .bool) == true)
        #expect(try value("yes", .int64) == nil)
        #expect(try value("huge", .double) == .double(.infinity))
        #expect(try value("huge", .decimal) == nil)
        #expect(
            try value("digits", .decimal)
                == .decimal(try #require(Decimal(exactly: "0.12345678901234567890123"))))
        #expect(try value("when", .date) == .date(try #require(Date(text: "2026-01-31"))))
        #expect(try value("text", .date) == nil)
        #expect(try value("empty", .json) == .json("{}"))
        #expect(JSONMember(of: document, at: ["big"])?.kind == .number)
        #expect(JSONMember(of: document, at: ["text"])?.kind == .string)
        #expect(JSONMember(of: document, at: ["empty"])?.kind == .object)
    }

    @Test("random JSON documents return the members of their trees, and damaged ones never trap")
    func random() throws {
        var random = SeededGenerator.fromEnvironment("JSON members")
        for _ in 0..<RandomTesting.iterations() {
            let tree = Self.value(depth: 0, &random)
            let text = tree.text
            var path: [String] = []
            var expected: JSONValue? = tree
            while Bool.random(using: &random), path.count < 4 {
                let step = ["a", "b", "0", "1"].randomElement(using: &random) ?? "a"
                path.append(step)
                switch expected {
                case .object(let members): expected = members[step]
                case .array(let elements):
                    let place = Int(step) ?? -1
                    expected = elements.indices.contains(place) ? elements[place] : nil
                default: expected = nil
                }
            }
            let found = JSONMember(of: text, at: path)?.text
            #expect(found == (expected == .null ? nil : expected?.text), "seed \(random.seed)")
            var bytes = Array(text.utf8)
            bytes.removeLast(Int.random(in: 0...bytes.count, using: &random))
            if let place = bytes.indices.randomElement(using: &random) {
                bytes[place] = #"{}[]",:\x1"#.utf8.randomElement(using: &random) ?? 0
            }
            _ = JSONMember(of: String(decoding: bytes, as: UTF8.self), at: path)?.kind
            _ = JSONMember.elements(of: String(decoding: bytes, as: UTF8.self))
        }
    }

    private static func value(depth: Int, _ random: inout SeededGenerator) -> JSONValue {
        switch Int.random(in: 0..<(depth < 4 ? 8 : 5), using: &random) {
        case 0: return .null
        case 1: return .bool(Bool.random(using: &random))
        case 2: return .integer(Int64.random(in: -9...9, using: &random))
        case 3: return .double(2.5)
        case 4: return .string([#"\"]"#, "a,b", "", "{é"].randomElement(using: &random) ?? "")
        case 5:
            return .array(
                (0..<Int.random(in: 0...3, using: &random)).map { _ in
                    value(depth: depth + 1, &random)
                })
        default:
            var members: [String: JSONValue] = [:]
            for key in ["a", "b", "0"] where Bool.random(using: &random) {
                members[key] = value(depth: depth + 1, &random)
            }
            return .object(members)
        }
    }
}
