import FoundationEssentials
import LarderModel
import LarderQuery
import Testing

@Suite("The documents about the schema file")
struct SchemaDocumentTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    private static func document(_ name: String) throws -> String {
        try String(contentsOf: root.appending(path: "docs").appending(path: name), encoding: .utf8)
    }

    private static func examples() throws -> [String] {
        try document("schema.md").components(separatedBy: "```json\n").dropFirst().map {
            $0.components(separatedBy: "```")[0]
        }
    }

    @Test(
        "each table in docs/schema.md lists exactly the keys of its object",
        arguments: [
            ("## The file", SchemaKey.document), ("## Entities", SchemaKey.entity),
            ("## Attributes", SchemaKey.attribute), ("## Relationships", SchemaKey.relationship),
        ])
    func keys(heading: String, keys: [String]) throws {
        let sections = try Self.document("schema.md").components(separatedBy: heading + "\n")
        try #require(sections.count == 2)
        let table = sections[1].split(separator: "\n").drop { !$0.hasPrefix("|---") }.dropFirst()
            .prefix { $0.hasPrefix("|") }
        #expect(table.map { $0.split(separator: "`")[1] } == keys.map { Substring($0) })
    }

    @Test("docs/schema.md names the reserved keys, all types and all delete rules")
    func words() throws {
        let page = try Self.document("schema.md")
        let words =
            SchemaKey.attributeReserved + AttributeType.allCases.map(\.rawValue)
            + Relationship.DeleteRule.allCases.map(\.rawValue)
        for word in words { #expect(page.contains("`\(word)`"), "\(word)") }
    }

    @Test("the examples in docs/schema.md are valid and use every key except $schema")
    func examples() throws {
        var keys: Set<String> = []
        let examples = try Self.examples()
        #expect(examples.count == 4)
        for example in examples {
            _ = try SchemaFile.schema(parsing: example)
            Self.collectKeys(try JSONValue(parsing: example), &keys)
        }
        let all =
            SchemaKey.document + SchemaKey.entity + SchemaKey.attribute
            + SchemaKey.relationship
        #expect(keys == Set(all).subtracting(["$schema"]))
    }

    private static func collectKeys(_ json: JSONValue, _ keys: inout Set<String>) {
        switch json {
        case .array(let elements): for element in elements { collectKeys(element, &keys) }
        case .object(let members):
            keys.formUnion(members.keys)
            for member in members.values { collectKeys(member, &keys) }
        default: break
        }
    }

    @Test("the JSON Schema has the keys, types and rules of the schema file")
    func jsonSchema() throws {
        let schema = try JSONValue(parsing: Self.document("schema.json"))
        #expect(schema["$schema"] == .string("https://json-schema.org/draft/2020-12/schema"))
        let definitions = schema["$defs"]
        for (definition, keys, required) in [
            (schema, SchemaKey.document, ["version", "entities"]),
            (definitions["entity"], SchemaKey.entity, ["name"]),
            (definitions["attribute"], SchemaKey.attribute, ["name", "type"]),
            (definitions["relationship"], SchemaKey.relationship, ["name", "destination"]),
        ] {
            #expect(definition["properties"].keys == keys.sorted())
            #expect(definition["required"] == .array(required.map { .string($0) }))
            #expect(definition["additionalProperties"] == .bool(false))
        }
        #expect(
            definitions["attribute"]["properties"]["type"]["enum"]
                == .array(AttributeType.allCases.map { .string($0.rawValue) }))
        #expect(
            definitions["relationship"]["properties"]["deleteRule"]["enum"]
                == .array(Relationship.DeleteRule.allCases.map { .string($0.rawValue) }))
        #expect(schema["properties"]["entities"]["maxItems"] == .integer(Int64(Limits.entitiesMax)))
        #expect(definitions["name"]["maxLength"] == .integer(Int64(Limits.nameBytesMax)))
        for list in ["attributes", "relationships", "unique", "indexes"] {
            #expect(
                definitions["entity"]["properties"][list]["maxItems"]
                    == .integer(Int64(Limits.propertiesMax)))
        }
    }

    @Test("a schema file without a required key of the JSON Schema is an error")
    func required() {
        for text in [
            #"{"entities":[{"name":"A"}]}"#, #"{"version":"1.0.0"}"#,
            #"{"version":"1.0.0","entities":[{"attributes":[]}]}"#,
            #"{"version":"1.0.0","entities":[{"name":"A","attributes":[{"type":"bool"}]}]}"#,
            #"{"version":"1.0.0","entities":[{"name":"A","attributes":[{"name":"a"}]}]}"#,
            #"{"version":"1.0.0","entities":[{"name":"A","relationships":[{"name":"a"}]}]}"#,
            #"{"version":"1.0.0","entities":[{"name":"A","relationships":[{"destination":"A"}]}]}"#,
        ] {
            let error = #expect(throws: SchemaError.self) { try SchemaFile.schema(parsing: text) }
            #expect(error?.problems.map(\.message) == ["is missing"])
        }
    }
}

extension JSONValue {
    /// The value of a key; null if there is none.
    fileprivate subscript(key: String) -> JSONValue {
        if case .object(let members) = self { return members[key] ?? .null }
        return .null
    }

    /// The keys of an object, sorted.
    fileprivate var keys: [String] {
        if case .object(let members) = self { return members.keys.sorted() }
        return []
    }
}
