import FoundationEssentials
import LarderModel
import LarderQuery
import Testing

/// Cases outside the property test of queries: objects that are not stored, and limits.
@Suite struct EvaluatorTests {
    private static let store = UUID()

    private static let ann = identifier(1)
    private static let bob = identifier(2)
    private static let unsaved = PersistentIdentifier(temporary: "new", entityName: "Person")

    private static func identifier(_ key: Int64) -> PersistentIdentifier {
        PersistentIdentifier(store: store, entityName: "Person", key: key)
    }

    private static let people: [PersistentIdentifier: [String: Value]] = [
        ann: [
            "name": "Ann", "age": 30, "boss": .null, "team": .objects([bob, unsaved]),
            "pay": .decimal(Decimal(exactly: "0.12345678901234567890") ?? 0), "height": 0.5,
        ],
        bob: [
            "name": "bob", "age": .null, "boss": .object(ann), "team": .objects([]),
            "notes": .json(#"{"floor":2,"tags":["x"]}"#),
            "pay": .decimal(Decimal(exactly: "0.12345678901234567891") ?? 0), "height": 2.0,
        ],
        unsaved: ["name": "Cafe\u{301}", "age": 20, "boss": .object(ann), "team": .objects([])],
    ]

    private static func read(_ object: PersistentIdentifier, _ property: String) -> Value? {
        people[object]?[property]
    }

    private func evaluator(
        _ parameters: QueryParameters = QueryParameters(), matcher: Evaluator.Matcher? = nil
    ) throws -> Evaluator {
        let schema = try Schema(entities: [
            Entity(
                name: "Person",
                attributes: [
                    Attribute(name: "name", type: .string),
                    Attribute(name: "age", type: .int64, isOptional: true),
                    Attribute(name: "pay", type: .decimal, isOptional: true),
                    Attribute(name: "height", type: .double, isOptional: true),
                    Attribute(name: "notes", type: .json, isOptional: true),
                ],
                relationships: [
                    Relationship(name: "boss", destination: "Person", inverse: "team"),
                    Relationship(
                        name: "team", destination: "Person", isToMany: true, inverse: "boss"),
                ])
        ])
        return try Evaluator(
            schema: schema, entityName: "Person", parameters: parameters, store: Self.store,
            now: Date(timeIntervalSinceReferenceDate: 0), matcher: matcher)
    }

    private func names(
        _ format: String, _ arguments: [QueryArgument] = []
    ) throws -> [String] {
        let parsed = try PredicateFormat.parse(format, arguments: arguments)
        let evaluator = try evaluator(QueryParameters(arguments: arguments))
        let predicate = try evaluator.predicate(parsed.expression)
        let kept = try [Self.ann, Self.bob, Self.unsaved].filter {
            try predicate.holds(for: $0, reading: Self.read)
        }
        return kept.compactMap { Self.people[$0]?["name"]?.text.normalized }
    }

    private func code(_ body: () throws -> Void) -> ErrorCode? {
        #expect(throws: LarderError.self, performing: body)?.code
    }

    @Test("the evaluator treats unsaved objects like others, also as arguments")
    func unsavedObjects() throws {
        #expect(try names("boss.name == \"Ann\"") == ["bob", "Café"])
        #expect(try names("SELF == %@", [.value(.object(Self.unsaved))]) == ["Café"])
        #expect(try names("team CONTAINS %@", [.value(.object(Self.unsaved))]) == ["Ann"])
        #expect(try names("name ENDSWITH \"é\"") == ["Café"])
        #expect(try names("SUBQUERY(team, $t, $t.age == NULL).@count == 1") == ["Ann"])
    }

    @Test("the bounds of BETWEEN can be one list of two values")
    func bounds() throws {
        #expect(try names("age BETWEEN %@", [[20, 25]]) == ["Café"])
        #expect(try names("age BETWEEN %@", [[25, .null]]) == [])
        #expect(try names("name BETWEEN[c] %@", [["B", "CA"]]) == ["bob"])
        #expect(try names("notes.floor BETWEEN %@", [[1, 2.5]]) == ["bob"])
        #expect(try names("ANY team.age BETWEEN %@", [[20, 25]]) == ["Ann"])
        for wrong in [[20], [20, 25, 30], [], 20, ["a", "b"], nil] as [QueryArgument] {
            #expect(code { _ = try names("age BETWEEN %@", [wrong]) } == .wrongType)
        }
        #expect(code { _ = try names("20 BETWEEN %@", [[20, 25]]) } == .unsupported)
        #expect(code { _ = try names("boss BETWEEN %@", [[20, 25]]) } == .wrongType)
    }

    @Test("ANY and ALL evaluate expressions for each element, including JSON members")
    func computedElements() throws {
        #expect(try names("ANY length(team.name) == 3") == ["Ann"])
        #expect(
            try names("ALL ternary(team.age > 5, team.age, 20) == 20") == ["Ann", "bob", "Café"])
        #expect(try names("ternary(ANY team.age > 5, 1, 2) == 1") == ["Ann"])
        #expect(try names("ANY team.notes.floor > 1") == ["Ann"])
        #expect(try names("ANY team.notes.floor IN %@", [[2, 7]]) == ["Ann"])
        #expect(try names("team.@sum.notes.floor == 2") == ["Ann"])
        #expect(try names("notes.floor IN %@", [[2, 7]]) == ["bob"])
        #expect(code { _ = try names("ANY ternary(age > 1, 1, 2) == 1") } == .wrongType)
        #expect(
            code { _ = try names("ANY ternary(team.age > 1, team.name, \"\") == \"\"") }
                == .wrongType)
    }

    @Test("the evaluator compares JSON members with each other")
    func members() throws {
        for format in [
            "notes.floor == notes.floor AND notes.floor != nil",
            "notes.floor IN {notes.floor, 7} AND notes != nil",
            "notes.floor BETWEEN {notes.floor, 2}", "notes.floor < notes.tags",
        ] {
            #expect(try names(format) == ["bob"], "\(format)")
        }
        #expect(try names("notes.floor BEGINSWITH notes.tags") == [])
    }

    @Test("the evaluator reads nil from every property of a missing object")
    func missingObject() throws {
        let predicate = try evaluator().predicate(
            .and([
                .comparison(Comparison(.keyPath("name"), .equal, .constant(.null))),
                .comparison(
                    Comparison(
                        .collection(.count, .keyPath("team")), .equal, .constant(0))),
            ]))
        #expect(try predicate.holds(for: Self.identifier(9), reading: Self.read))
    }

    @Test("the evaluator rejects objects of another store")
    func foreignObject() throws {
        let foreign = PersistentIdentifier(store: UUID(), entityName: "Person", key: 1)
        #expect(
            code { _ = try names("SELF == %@", [.value(.object(foreign))]) } == .foreignIdentifier)
    }

    @Test("the evaluator rejects MATCHES without a matcher, and calls the given one")
    func matches() throws {
        #expect(code { _ = try names("name MATCHES \"A.*\"") } == .unsupported)
        let evaluator = try evaluator { text, pattern, _ in text == pattern }
        let predicate = try evaluator.predicate(
            .comparison(Comparison(.keyPath("name"), .matches, .constant("Ann"))))
        #expect(try predicate.holds(for: Self.ann, reading: Self.read))
        #expect(try !predicate.holds(for: Self.bob, reading: Self.read))
    }

    @Test("the evaluator accepts a tree of the maximum depth, and rejects one level more")
    func depth() throws {
        func nested(_ levels: Int) -> QueryExpression {
            (0..<levels).reduce(.constant(true)) { inner, _ in .not(inner) }
        }
        let deepest = try evaluator().predicate(nested(Limits.expressionDepthMax - 1))
        #expect(try !deepest.holds(for: Self.ann, reading: Self.read))
        let error = code {
            _ = try evaluator().predicate(nested(Limits.expressionDepthMax))
        }
        #expect(error == .resourceExhausted)
    }

    @Test("the evaluator computes expressions, and its order ends with the identifier")
    func valuesAndOrder() throws {
        let evaluator = try evaluator()
        let age = try evaluator.expression(.keyPath("boss.age"))
        #expect(try age.value(for: Self.bob, reading: Self.read) == 30)
        let order = try evaluator.order([SortKey("boss.name")])
        let sorted = try order.sorted(
            [Self.unsaved, Self.bob, Self.ann], reading: Self.read)
        #expect(sorted == [Self.ann, Self.bob, Self.unsaved])
    }

    @Test("a literal with more digits than a double has is a decimal, and a double among doubles")
    func decimalLiterals() throws {
        #expect(try names("pay == 0.12345678901234567890") == ["Ann"])
        #expect(try names("pay > 0.12345678901234567890") == ["bob"])
        #expect(try names("pay - 0.12345678901234567891 == 0") == ["bob"])
        #expect(try names("height * 0.50000000000000000001 == 1") == ["bob"])
        #expect(try names("height == 0.50000000000000000001") == ["Ann"])
        #expect(try names("0.12345678901234567890 == 0.12345678901234567891") == [])
        #expect(try names("age * (0 + 1.00000000000000000001) > 30") == ["Ann"])
        #expect(try names("0.1234567890123457 < 0.12345678901234567891") == [])
    }

    @Test("the evaluator's errors have the same hints as the store's")
    func hints() throws {
        func hint(_ format: String) -> String? {
            #expect(throws: LarderError.self) { _ = try names(format) }?.hint
        }
        let quotes = #"text is written in quotation marks, as in `name == "Ann"`"#
        #expect(hint("name == Caroline") == quotes)
        #expect(hint("name.length == 1") == "write `length(name)`")
        #expect(hint("team.count == 1") == "write `team.@count`")
        #expect(
            hint("boss == \"Ann\"") == "compare an attribute of the object: `boss.name == …`")
        #expect(hint("sum(age) > 1")?.contains("column of an aggregate query") == true)
    }

    @Test("text compared with an object is a short identifier in the evaluator's store")
    func shortIdentifiers() throws {
        #expect(try names("boss == \"Person/p1\"") == ["bob", "Café"])
        #expect(code { _ = try names("boss == \"Nobody/p1\"") } == .wrongType)
        #expect(try names("name == \"Person/p1\"") == [])
    }

    @Test("the evaluator rejects unknown entities and properties, and missing arguments")
    func unknownNames() throws {
        #expect(code { _ = try names("nothing == 1") } == .unknownProperty)
        #expect(code { _ = try names("name.length == 1") } == .wrongType)
        let query = QueryExpression.comparison(Comparison(.keyPath("age"), .equal, .argument(3)))
        #expect(code { _ = try evaluator().predicate(query) } == .malformedPredicate)
    }
}
