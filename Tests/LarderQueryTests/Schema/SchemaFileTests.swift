import FoundationEssentials
import LarderModel
import LarderQuery
import TestSupport
import Testing

@Suite("Schema file")
struct SchemaFileTests {
    @Test("a schema file is parsed, or rejected with all problems and their paths")
    func scripts() throws {
        try runScripts(in: "schema") { text in
            do throws(SchemaError) {
                return try SchemaFile.schema(parsing: text).canonicalText
            } catch {
                return error.problems.map(\.description).joined(separator: "\n")
            }
        }
    }

    @Test("the example of a schema file in the documentation can be parsed")
    func example() throws {
        let schema = try SchemaFile.schema(parsing: SchemaSamples.articles)
        #expect(schema.version == "1.0.0")
        #expect(schema.entities.map(\.name) == ["Article", "Category", "ArticleCollection"])
        let article = try #require(schema.entity(named: "Article"))
        #expect(article.attributes.map(\.type) == [.string, .int64, .date])
        #expect(article.attributes[1].defaultValue == .int(0))
        #expect(article.attributes[1].validation.minimum == .int(0))
        #expect(article.attributes[2].isOptional)
        #expect(article.uniquenessConstraints == [["title", "collection"]])
        #expect(article.indexes == [["title"], ["published", "title"]])
        guard
            case .relationship(let articles)? = schema.entity(named: "ArticleCollection")?
                .property(named: "articles")
        else {
            Issue.record("there is no relationship")
            return
        }
        #expect(articles.isToMany && articles.isOrdered && articles.deleteRule == .cascade)
        #expect(articles.destination == "Article" && articles.inverse == "collection")
    }

    @Test("the history of an entity has values if it or an ancestor says so")
    func history() throws {
        let text = """
            {"version": "1.0.0", "entities": [
              {"name": "A", "history": "values"}, {"name": "B", "parent": "A"},
              {"name": "C", "history": "changes", "parent": "B"}, {"name": "D"}]}
            """
        let schema = try SchemaFile.schema(parsing: text)
        #expect(schema.entities.map(\.recordsValues) == [true, true, true, false])
        let plain = text.replacing(#", "history": "changes""#, with: "")
        #expect(try SchemaFile.schema(parsing: plain).fingerprint == schema.fingerprint)
        #expect(try SchemaFile.schema(parsing: schema.canonicalText) == schema)
        let wrong = text.replacing(#""changes""#, with: "true")
        let error = #expect(throws: SchemaError.self) { try SchemaFile.schema(parsing: wrong) }
        #expect(error?.problems.map(\.path) == ["entities[2].history"])
    }

    @Test("the history of an entity is switched on by an addition")
    func historyIsAdded() throws {
        let old = try SchemaFile.schema(parsing: SchemaSamples.articles)
        let new = try SchemaFile.schema(
            parsing: SchemaSamples.articles.replacing(
                #""name": "Article","#, with: #""name": "Article", "history": "values","#))
        let mapping = SchemaMapping(from: old, to: new)
        #expect(mapping.isAdditive)
        #expect(mapping.changes.map(\.description) == ["Article: history changes -> values"])
    }

    @Test("the canonical text of a schema parses to an equal schema with the same canonical text")
    func canonicalText() throws {
        for text in [SchemaSamples.articles, SchemaSamples.everyType] {
            let schema = try SchemaFile.schema(parsing: text)
            let again = try SchemaFile.schema(parsing: schema.canonicalText)
            #expect(again == schema)
            #expect(again.canonicalText == schema.canonicalText)
        }
    }

    @Test(
        "the readable text of a schema parses to an equal schema, with short objects on one line"
    )
    func fileText() throws {
        for text in [SchemaSamples.articles, SchemaSamples.everyType] {
            let schema = try SchemaFile.schema(parsing: text)
            #expect(try SchemaFile.schema(parsing: schema.fileText) == schema)
            #expect(schema.fileText.split(separator: "\n").allSatisfy { $0.count <= 100 })
        }
        let schema = try SchemaFile.schema(parsing: SchemaSamples.articles)
        let lines = [
            "{", #"  "name": "Category","#,
            #"  "attributes": [{ "name": "name", "type": "string", "unique": true }],"#,
            #"  "relationships": ["#,
            #"    { "name": "articles", "destination": "Article", "toMany": true, "#
                + #""inverse": "category" }"#,
            "  ]", "}", "",
        ]
        #expect(schema.entities[1].fileText == lines.joined(separator: "\n"))
        let beginning = ["{", #"  "version": "1.0.0","#, #"  "entities": ["#, "    {", ""]
        #expect(schema.fileText.hasPrefix(beginning.joined(separator: "\n")))
    }

    @Test("a long value of a schema's text is on one line, and a long list on several")
    func longValues() throws {
        let long = String(repeating: "ä", count: 200)
        let numbers = "[" + (0..<50).map { "\($0)" }.joined(separator: ",") + "]"
        let schema = try Schema(entities: [
            Entity(
                name: "A",
                attributes: [
                    Attribute(name: "a", type: .string, defaultValue: .string(long)),
                    Attribute(name: "b", type: .json, defaultValue: .json(numbers)),
                ])
        ])
        #expect(schema.fileText.contains("\n          \"default\": \"\(long)\"\n"))
        #expect(schema.fileText.contains("\n          \"default\": [\n            0,\n"))
        #expect(try SchemaFile.schema(parsing: schema.fileText) == schema)
    }

    @Test("only the first hundred problems of a schema file suggest names")
    func manySuggestions() {
        let entities = (0..<Limits.entitiesMax).map { number in
            let relationships = (0..<40).map {
                #"{"name":"r\#($0)","destination":"F\#(number)"}"#
            }
            let list = relationships.joined(separator: ",")
            return #"{"name":"E\#(number)","relationships":[\#(list)]}"#
        }
        let text = #"{"version":"1.0.0","entities":[\#(entities.joined(separator: ","))]}"#
        let error = #expect(throws: SchemaError.self) { try SchemaFile.schema(parsing: text) }
        let messages = error?.problems.map(\.message) ?? []
        #expect(messages.count == 40 * Limits.entitiesMax)
        #expect(messages.prefix(100).allSatisfy { $0.hasPrefix("unknown entity; did you mean") })
        #expect(messages.dropFirst(100).allSatisfy { $0 == "unknown entity" })
    }

    @Test("a schema file one byte too long is rejected")
    func tooLong() throws {
        let text = SchemaSamples.articles
        let padding = Limits.schemaBytesMax - text.utf8.count
        _ = try SchemaFile.schema(parsing: text + String(repeating: " ", count: padding))
        let error = #expect(throws: SchemaError.self) {
            try SchemaFile.schema(parsing: text + String(repeating: " ", count: padding + 1))
        }
        #expect(error?.problems.count == 1)
    }

    @Test("a schema with one entity, property or list too many is rejected")
    func tooMany() throws {
        func elements(_ count: Int, _ element: (Int) -> String) -> String {
            (0..<count).map(element).joined(separator: ",")
        }
        func entities(_ count: Int) -> String {
            #"{"version":"1.0.0","entities":[\#(elements(count) { #"{"name":"E\#($0)"}"# })]}"#
        }
        func attributes(_ count: Int) -> String {
            let attributes = elements(count) { #"{"name":"a\#($0)","type":"bool"}"# }
            return #"{"version":"1.0.0","entities":[{"name":"E","attributes":[\#(attributes)]}]}"#
        }
        _ = try SchemaFile.schema(parsing: entities(Limits.entitiesMax))
        _ = try SchemaFile.schema(parsing: attributes(Limits.propertiesMax))
        for (text, path) in [
            (entities(Limits.entitiesMax + 1), "entities"),
            (attributes(Limits.propertiesMax + 1), "entities[0].attributes"),
        ] {
            let error = #expect(throws: SchemaError.self) { try SchemaFile.schema(parsing: text) }
            #expect(error?.problems.map(\.path) == [path])
        }
    }

    @Test("a name of 128 bytes in a schema is accepted, and one of 129 is rejected")
    func longName() throws {
        func schema(_ length: Int) throws -> Schema {
            try Schema(entities: [
                Entity(name: String(repeating: "N", count: length), attributes: [])
            ])
        }
        _ = try schema(Limits.nameBytesMax)
        #expect(throws: SchemaError.self) { try schema(Limits.nameBytesMax + 1) }
    }

    @Test("a damaged schema file is rejected, or parses to a schema that is read back")
    func fuzz() throws {
        var generator = SeededGenerator.fromEnvironment("schema file")
        for sample in [SchemaSamples.articles, SchemaSamples.everyType] {
            for _ in 0..<(RandomTesting.iterations() / 4) {
                let text = Fuzzing.mutated(sample, alphabet: Fuzzing.alphabet, using: &generator)
                do throws(SchemaError) {
                    let schema = try SchemaFile.schema(parsing: text)
                    #expect(try SchemaFile.schema(parsing: schema.canonicalText) == schema)
                    #expect(try SchemaFile.schema(parsing: schema.fileText) == schema)
                } catch {
                    #expect(!error.problems.isEmpty)
                }
            }
        }
    }

    @Test("a schema file with exchanged keys, types and values is rejected, or is read back")
    func fuzzTokens() throws {
        var generator = SeededGenerator.fromEnvironment("schema tokens")
        let words = SchemaSamples.everyType.split(whereSeparator: { "{}[],: \n".contains($0) })
        for sample in [SchemaSamples.articles, SchemaSamples.everyType] {
            for _ in 0..<(RandomTesting.iterations() / 4) {
                var text = sample
                for _ in 0..<Int.random(in: 1...4, using: &generator) {
                    let old = words.randomElement(using: &generator) ?? "x"
                    let new = words.randomElement(using: &generator) ?? "x"
                    text = text.replacing(old, with: new, maxReplacements: 1)
                }
                do throws(SchemaError) {
                    let schema = try SchemaFile.schema(parsing: text)
                    #expect(try SchemaFile.schema(parsing: schema.canonicalText) == schema)
                    #expect(try SchemaFile.schema(parsing: schema.fileText) == schema)
                } catch {
                    #expect(!error.problems.isEmpty)
                }
            }
        }
    }
}
