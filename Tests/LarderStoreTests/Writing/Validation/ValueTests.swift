import FoundationEssentials
import LarderModel
import LarderQuery
import Testing

@testable import LarderSQL
@testable import LarderStore

@Suite("values of a change set")
struct ValueTests {
    private let library: Library

    init() throws { library = try Library() }

    private func refusal(_ values: [String: Value]) throws -> LarderError {
        var all = values
        if all["title"] == nil { all["title"] = "t" }
        return try library.refusal(.insert(.new("a", "Article"), values: all))
    }

    @Test("the values of a change set are stored, with defaults for missing ones")
    func stored() throws {
        let article = try library.insert("Article", ["title": "e\u{301}", "price": .decimal(1.5)])
        #expect(try library.value(article, "title") == .text("\u{e9}"))
        #expect(try library.value(article, "price") == .text("1.5"))
        #expect(try library.value(article, "wordCount") == .integer(0))
        #expect(try library.value(article, "small") == .null)
        #expect(try library.version(article) == 1)
        #expect(article == library.identifier("Article", 1))
    }

    @Test("values of unknown entities and properties are rejected")
    func unknownNames() throws {
        let entity = try library.refusal(.insert(.new("a", "Nothing"), values: [:]))
        #expect(entity.code == .unknownEntity)
        let property = try refusal(["nothing": 1])
        #expect(property.code == .unknownProperty)
        #expect(property.message == "Article has no property nothing")
    }

    @Test("values of a wrong type are rejected, with both types in the error")
    func wrongType() throws {
        let error = try refusal(["wordCount": "many"])
        #expect(error.code == .wrongType)
        #expect(error.message == "Article.wordCount takes an int64, not a string")
        #expect(try refusal(["small": 40_000]).code == .wrongType)
        #expect(
            try refusal(["category": 1]).message
                == "Article.category takes an object of Category, not an integer")
        #expect(
            try refusal(["tags": nil]).message
                == "Article.tags takes a list of Tag objects, not nil")
    }

    @Test("required values must be given, and cannot be nil")
    func missing() throws {
        let absent = try library.refusal(.insert(.new("a", "Article"), values: [:]))
        #expect(absent.code == .missingValue)
        #expect(absent.message == "Article.title is required")
        #expect(try refusal(["title": nil]).code == .missingValue)
        let article = try library.insert("Article", ["title": "t"])
        let updated = try library.refusal(
            .update(article, ifVersion: nil, values: ["wordCount": nil]))
        #expect(updated.code == .missingValue)
    }

    @Test(
        "values outside of their bounds are rejected, and those on them are accepted",
        arguments: [
            ("wordCount", Value.int(-1), Value.int(0)), ("wordCount", .int(1_001), .int(1_000)),
            ("code", .string("A"), .string("AB")), ("code", .string("ABCDE"), .string("ABCD")),
            ("code", .string("Ab"), .string("AB")), ("code", .string("AB\n"), .string("ABC")),
            ("price", .decimal(100.01), .decimal(100)),
        ])
    func bounds(name: String, outside: Value, on: Value) throws {
        let error = try refusal([name: outside])
        #expect(error.code == .validationFailed)
        #expect(error.message.hasPrefix("Article.\(name) "))
        try library.insert("Article", ["title": "t", name: on])
    }

    @Test("the values of JSON attributes are parsed")
    func json() throws {
        #expect(try refusal(["notes": .json("{")]).code == .malformedValue)
        try library.insert("Article", ["title": "t", "notes": .json("{\"a\":[1]}")])
    }

    @Test("invalid values are all reported, each with its change")
    func allErrors() throws {
        let error = try library.refusal(
            .insert(.new("a", "Article"), values: ["wordCount": -1, "code": "a", "title": nil]),
            .insert(.new("b", "Nothing"), values: [:]),
            .delete(.new("a", "Article"), ifVersion: nil))
        #expect(error.code == .unknownEntity)
        #expect(error.problems.count == 5)
        #expect(error.problems.contains("changes[0]: Article.title is required"))
        #expect(error.problems.contains("changes[1]: there is no entity Nothing"))
        #expect(error.message.hasSuffix("and the change set has 4 other errors"))
    }

    @Test("invalid values are reported up to a limit")
    func manyErrors() throws {
        let changes = (0..<1_000).map {
            Change.insert(.new("\($0)", "Article"), values: ["nothing": 1])
        }
        let outcome = library.writer.save([ChangeSet(changes)])[0]
        guard case .failure(let error) = outcome else {
            Issue.record("the change set was saved")
            return
        }
        #expect(error.problems.count == ChangeErrors.countMax)
    }

    @Test("values that exceed the limit of matching a pattern are rejected")
    func backtracking() throws {
        let slow = try Library(
            schema: Schema(entities: [
                Entity(
                    name: "T",
                    attributes: [
                        Attribute(
                            name: "s", type: .string, validation: .init(pattern: "(a+)+[0-9]"))
                    ])
            ]))
        let text = String(repeating: "a", count: 100)
        let error = try slow.refusal(.insert(.new("a", "T"), values: ["s": .string(text)]))
        #expect(error.code == .validationFailed)
        #expect(error.message.hasPrefix("T.s cannot be compared with its pattern"))
    }
}
