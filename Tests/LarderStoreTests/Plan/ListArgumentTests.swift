import FoundationEssentials
import LarderModel
import LarderStore
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
        #expect(try found(10_000) == ["i0"])
        #expect(try found(10_001) == ["i0", "i1"])
        #expect(try found(Limits.listElementsMax) == ["i0", "i1", "i2", "i3", "i4"])
        let error = #expect(throws: LarderError.self) { try found(Limits.listElementsMax + 1) }
        #expect(error?.code == .resourceExhausted)
    }

    @Test("list arguments that are too long together are rejected")
    func together() throws {
        let fixture = try fixture()
        let list = QueryArgument.list(
            (0..<Limits.listElementsMax).map { Value.int(Int64($0)) })
        func ask(_ count: Int) throws {
            let format = [String](repeating: "n IN $list", count: count).joined(separator: " OR ")
            _ = try rows(fixture, format, QueryParameters(variables: ["list": list]))
        }
        try ask(3)
        let error = #expect(throws: LarderError.self) { try ask(4) }
        #expect(error?.code == .resourceExhausted)
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
