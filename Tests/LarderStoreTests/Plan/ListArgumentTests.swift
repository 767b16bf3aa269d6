import FoundationEssentials
import LarderModel
import LarderQuery
import LarderStore
import QueryScripts
import Testing

@Suite("Lists that are one argument")
struct ListArgumentTests {
    private func fixture() throws -> QueryFixture {
        let fixture = try QueryFixture(
            try SchemaFile.schema(
                parsing: """
                    { "version": "1.0.0", "entities": [ { "name": "Item",
                      "attributes": [
                        { "name": "n", "type": "int64", "optional": true, "indexed": true },
                        { "name": "s", "type": "string", "optional": true } ] } ] }
                    """))
        try fixture.insert(
            (0..<5).map { number in
                .init(
                    entityName: "Item", name: "i\(number)",
                    values: [
                        "n": .integer(Int64(number) * 10_000), "s": .string("s\(number)0000"),
                    ])
            })
        return fixture
    }

    private func rows(
        _ fixture: QueryFixture, _ format: String, _ parameters: QueryParameters
    ) throws -> [String] {
        let query = Query.fetch(
            Fetch("Item", where: .format(format), selection: .identifiers))
        return fixture.rows(try fixture.batches(query, parameters))
    }

    @Test("a list argument of the maximum length is accepted, and one more element is rejected")
    func sizes() throws {
        let fixture = try fixture()
        func found(_ count: Int) throws -> [String] {
            let numbers = (0..<count).map { Value.int(Int64($0)) }
            let strings = (0..<count).map { Value.string("s\($0 / 10_000)0000") }
            let parameters = QueryParameters(
                arguments: [.list(numbers)], variables: ["names": .list(strings)])
            return try rows(fixture, "n IN %@ AND s IN $names", parameters)
        }
        #expect(try found(4_096) == ["i0"])
        #expect(try found(4_097) == ["i0"])
        #expect(try found(10_000) == ["i0"])
        #expect(try found(10_001) == ["i0", "i1"])
        #expect(try found(Limits.listElementsMax) == ["i0", "i1", "i2", "i3", "i4"])
        let error = #expect(throws: LarderError.self) { try found(Limits.listElementsMax + 1) }
        #expect(error?.code == .resourceExhausted)
    }

    @Test("list arguments that are too long together are rejected")
    func together() throws {
        let fixture = try fixture()
        func ask(_ count: Int, ofLength length: Int) throws {
            let list = QueryArgument.list((0..<length).map { Value.int(Int64($0)) })
            let format = [String](repeating: "n IN $list", count: count).joined(separator: " OR ")
            _ = try rows(fixture, format, QueryParameters(variables: ["list": list]))
        }
        func refusal(_ count: Int, ofLength length: Int) throws -> ErrorCode? {
            #expect(throws: LarderError.self) { try ask(count, ofLength: length) }?.code
        }
        // Two lists of a million integers have less than 32 MiB, and three have more.
        try ask(2, ofLength: Limits.listElementsMax)
        #expect(try refusal(3, ofLength: Limits.listElementsMax) == .resourceExhausted)
        // Shorter lists are up to 250,000 parameters.
        try ask(61, ofLength: 4_096)
        #expect(try refusal(62, ofLength: 4_096) == .resourceExhausted)
    }

    @Test("a list finds the same objects if its elements are repeated up to any length")
    func repeated() throws {
        let types = [
            "bool", "int32", "double", "float", "decimal", "string", "date", "uuid", "url",
        ]
        let attributes = types.map { type in
            #"{ "name": "\#(type)_", "type": "\#(type)", "optional": true }"#
        }
        let fixture = try QueryFixture(
            try SchemaFile.schema(
                parsing: """
                    { "version": "1.0.0", "entities": [ { "name": "Item",
                      "attributes": [ \(attributes.joined(separator: ",")) ] } ] }
                    """))
        let ids = [UUID(), UUID()]
        try fixture.insert([
            .init(
                entityName: "Item", name: "a",
                values: [
                    "bool_": .bool(true), "int32_": .integer(-5), "double_": .double(0.1),
                    "float_": .double(0.5), "decimal_": .decimal("1.25"),
                    "string_": .string("Émil"), "date_": .string("2001-01-01T00:00:01Z"),
                    "uuid_": .string(ids[0].uuidString), "url_": .string("file:///a"),
                ]),
            .init(
                entityName: "Item", name: "b",
                values: [
                    "bool_": .bool(false), "int32_": .integer(7), "double_": .double(-1e300),
                    "float_": .double(2), "decimal_": .decimal("-3"), "string_": .string("emil"),
                    "date_": .string("1969-01-01T00:00:00Z"), "uuid_": .string(ids[1].uuidString),
                    "url_": .string("file:///b"),
                ]),
            .init(entityName: "Item", name: "c", values: [:]),
        ])
        let lists: [(test: String, list: [Value])] = [
            ("bool_ IN %@", [.bool(true)]),
            ("int32_ IN %@", [.int(-5), .double(8), .null]),
            ("int32_ IN %@", [.int(7), .decimal(9)]),
            ("double_ IN %@", [.double(0.1), .int(3)]),
            ("double_ IN %@", [.double(-1e300)]),
            ("float_ IN %@", [.float(0.5), .float(3)]),
            ("decimal_ IN %@", [.decimal(Decimal(string: "1.250") ?? 0), .int(-4)]),
            ("string_ IN %@", [.string("E\u{301}mil"), .string("")]),
            ("string_ IN[cd] %@", [.string("EMIL")]),
            ("string_ IN[c] %@", [.string("ÉMIL"), .null]),
            ("date_ IN %@", [.date(Date(timeIntervalSinceReferenceDate: 1)), .null]),
            ("uuid_ IN %@", [.uuid(ids[1]), .uuid(UUID())]),
            ("url_ IN %@", [.url(URL(filePath: "/a"))]),
            ("bool_ IN %@", [.null]),
        ]
        var foundCount = 0
        for (test, list) in lists {
            for format in [test, "NOT (\(test))", "\(test) AND int32_ = nil"] {
                let short = try rows(fixture, format, QueryParameters(arguments: [.list(list)]))
                let long = (0..<5_000).map { list[$0 % list.count] }
                let found = try rows(fixture, format, QueryParameters(arguments: [.list(long)]))
                #expect(found == short, "\(format)")
                foundCount += found.count
            }
        }
        #expect(foundCount > 2 * lists.count)
    }

    @Test("the text of a list argument is read, and an invalid one is rejected with its position")
    func text() throws {
        let fixture = try fixture()
        let text = "[\((0..<20_000).map(String.init).joined(separator: ","))]"
        func ask(_ text: String) throws -> [String] {
            try rows(
                fixture, "n IN %@",
                QueryParameters(arguments: [.value(.string(text))], argumentsAreText: true))
        }
        #expect(try ask(text) == ["i0", "i1"])
        for wrong in ["", "1", "[1", "{}", "[1,]", "[[1]]", String(repeating: "[", count: 100_000)]
        {
            let error = #expect(throws: LarderError.self) { try ask(wrong) }
            #expect(error?.column == 6)
        }
    }

    @Test("more variables than allowed, and a variable's name that is too long, are rejected")
    func variables() throws {
        let fixture = try fixture()
        func ask(_ names: [String]) throws {
            let variables = Dictionary(uniqueKeysWithValues: names.map { ($0, QueryArgument(1)) })
            _ = try rows(fixture, "n > 1", QueryParameters(variables: variables))
        }
        try ask((0..<Limits.variablesMax).map { "v\($0)" })
        for names in [
            (0...Limits.variablesMax).map { "v\($0)" }, [""],
            [String(repeating: "n", count: Limits.nameBytesMax + 1)],
        ] {
            let error = #expect(throws: LarderError.self) { try ask(names) }
            #expect(error?.code == .resourceExhausted)
        }
    }
}
