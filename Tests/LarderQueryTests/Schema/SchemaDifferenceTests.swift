import LarderModel
import LarderQuery
import Testing

@Suite("Schema differences")
struct SchemaDifferenceTests {
    func schema(_ text: String) throws -> Schema { try SchemaFile.schema(parsing: text) }

    @Test("each difference of schemas is described by a sentence and changes the fingerprint")
    func sentences() throws {
        let old = try schema(SchemaSamples.articles)
        for (part, replacement, sentences) in [
            (
                #""version": "1.0.0""#, #""version": "1.1.0""#,
                ["version is 1.0.0 in the store, 1.1.0 in the file"]
            ),
            (
                #""title",     "type": "string""#, #""title", "type": "int64""#,
                ["Article.title: type is string in the store, int64 in the file"]
            ),
            (
                #""default": 0,"#, "",
                ["Article.wordCount: default is 0 in the store, none in the file"]
            ),
            (
                #", "indexed": true"#, "",
                ["Article: index (title) is in the store, not in the file"]
            ),
            (
                #""name": "wordCount""#, #""name": "words""#,
                [
                    "Article.wordCount: is in the store, not in the file",
                    "Article.words: is in the file, not in the store",
                ]
            ),
            (
                #""name": "Article","#, #""name": "Article", "hashModifier": "2","#,
                [#"Article: hashModifier is none in the store, "2" in the file"#]
            ),
            (
                #""name": "Article","#, #""name": "Article", "history": "values","#,
                ["Article: history is changes in the store, values in the file"]
            ),
            (
                #""name": "published","#, #""name": "published", "hashModifier": "","#,
                [#"Article.published: hashModifier is none in the store, "" in the file"#]
            ),
            (
                #""name": "category","#, #""name": "category", "hashModifier": "none","#,
                [#"Article.category: hashModifier is none in the store, "none" in the file"#]
            ),
            (
                #""ordered": true,"#, "",
                ["ArticleCollection.articles: ordered is true in the store, false in the file"]
            ),
            (
                #""entities": ["#, #""entities": [{"name": "New"},"#,
                ["New: entity is in the file, not in the store"]
            ),
        ] {
            let text = SchemaSamples.articles.replacing(part, with: replacement, maxReplacements: 1)
            let new = try schema(text)
            let differences = SchemaDifference.differences(from: old, to: new)
            #expect(differences.map(\.description) == sentences)
            #expect(new.fingerprint != old.fingerprint)
        }
    }

    @Test("an attribute that became a relationship is a single difference of schemas")
    func otherKind() throws {
        let old = try Schema(entities: [
            Entity(name: "A", attributes: [Attribute(name: "x", type: .int64)])
        ])
        let new = try Schema(entities: [
            Entity(
                name: "A", attributes: [],
                relationships: [Relationship(name: "x", destination: "A")])
        ])
        #expect(
            SchemaDifference.differences(from: old, to: new).map(\.description)
                == ["A.x: kind is attribute in the store, relationship in the file"])
    }

    @Test("the order of entities, properties and keys is no difference of schemas")
    func order() throws {
        let old = try schema(SchemaSamples.everyType)
        let entities = old.entities.map {
            Entity(
                name: $0.name, attributes: $0.attributes.reversed(),
                relationships: $0.relationships.reversed(),
                uniquenessConstraints: [["next"], ["b", "a"]],
                indexes: [["b", "a"], ["a", "b"], ["c"]], hashModifier: $0.hashModifier,
                recordsValues: $0.recordsValues)
        }
        let new = try Schema(version: old.version, entities: entities)
        #expect(new != old)
        #expect(SchemaDifference.differences(from: old, to: new).isEmpty)
        #expect(new.fingerprint == old.fingerprint)
    }

    @Test("original names are no difference of schemas and do not change the fingerprint")
    func originalNames() throws {
        let old = try schema(SchemaSamples.articles)
        for (part, replacement) in [
            (#""name": "Article","#, #""name": "Article", "originalName": "Text","#),
            (#""name": "published","#, #""name": "published", "originalName": "date","#),
            (#""name": "category","#, #""name": "category", "originalName": "topic","#),
        ] {
            let text = SchemaSamples.articles.replacing(part, with: replacement, maxReplacements: 1)
            let new = try schema(text)
            #expect(new != old)
            #expect(new.canonicalText != old.canonicalText)
            #expect(SchemaDifference.differences(from: old, to: new).isEmpty)
            #expect(SchemaDifference.differences(from: new, to: old).isEmpty)
            #expect(new.fingerprint == old.fingerprint)
        }
    }

    @Test("the fingerprint of a schema is the same in every process and release")
    func pinned() throws {
        #expect(try schema(SchemaSamples.articles).fingerprint == "abe919eae238f9d1")
        let schema = try Schema(entities: [Entity(name: "A", attributes: [])])
        #expect(schema.fingerprint.utf8.count == 16)
    }

    @Test("each feature of a schema that CloudKit does not support is found, with its path")
    func cloudKit() throws {
        let problems = CloudKitAudit.problems(in: try schema(SchemaSamples.articles))
        #expect(
            problems.map(\.description) == [
                "entities[0].attributes[0]: `Article.title` must be optional or have a default "
                    + "value in its declaration",
                "entities[0].unique[0]: `Article` must not have a unique constraint "
                    + "(title, collection)",
                "entities[1].attributes[0]: `Category.name` must be optional or have a default "
                    + "value in its declaration",
                "entities[1].attributes[0].unique: `Category` must not have a unique constraint "
                    + "(name)",
                "entities[2].attributes[0]: `ArticleCollection.name` must be optional or have "
                    + "a default value in its declaration",
                "entities[2].relationships[0].ordered: `ArticleCollection.articles` must not be "
                    + "ordered",
            ])
        let every = CloudKitAudit.problems(in: try schema(SchemaSamples.everyType)).map(\.path)
        #expect(every.contains("entities[0].relationships[1].optional"))
        #expect(every.contains("entities[0].relationships[2]"))
        let mirrored = try Schema(entities: [
            Entity(name: "A", attributes: [Attribute(name: "x", type: .int64, defaultValue: 0)])
        ])
        #expect(CloudKitAudit.problems(in: mirrored).isEmpty)
    }

    @Test("a relationship with several features that CloudKit refuses is reported for each")
    func cloudKitTogether() throws {
        let schema = try Schema(entities: [
            Entity(
                name: "A", attributes: [],
                relationships: [
                    Relationship(
                        name: "bs", destination: "B", isToMany: true, isOrdered: true,
                        inverse: "a", deleteRule: .deny)
                ]),
            Entity(
                name: "B", attributes: [],
                relationships: [Relationship(name: "a", destination: "A", inverse: "bs")]),
        ])
        #expect(
            CloudKitAudit.problems(in: schema).map(\.path) == [
                "entities[0].relationships[0].ordered",
                "entities[0].relationships[0].deleteRule",
            ])
    }
}
