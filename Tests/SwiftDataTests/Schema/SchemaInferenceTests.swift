import Foundation
import SwiftData
import Testing

@Suite("A schema is inferred from model types")
struct SchemaInferenceTests {
    @Test("each type of a model's attribute has its type in the store")
    func attributes() throws {
        let text = try Schema([Shapes.Everything.self]).larderSchema().fileText
        #expect(text == Self.everything)
    }

    private static let everything = """
        {
          "version": "1.0.0",
          "entities": [
            {
              "name": "Everything",
              "attributes": [
                { "name": "text", "type": "string", "default": "text" },
                { "name": "bool", "type": "bool", "default": false },
                { "name": "int", "type": "int64", "default": -1 },
                { "name": "small", "type": "int16", "default": 8 },
                { "name": "unsigned", "type": "decimal" },
                { "name": "float", "type": "float", "default": 0.5 },
                { "name": "double", "type": "double", "default": 1.5 },
                { "name": "decimal", "type": "decimal" },
                { "name": "date", "type": "date" },
                { "name": "distant", "type": "date" },
                { "name": "uuid", "type": "uuid" },
                { "name": "url", "type": "url" },
                { "name": "data", "type": "data" },
                { "name": "status", "type": "string", "default": "draft" },
                { "name": "level", "type": "int64", "default": 1 },
                { "name": "address", "type": "json" },
                { "name": "place", "type": "json", "optional": true },
                { "name": "words", "type": "json", "default": ["a", "b"] },
                { "name": "numbers", "type": "json", "default": [1, 2, 3] },
                { "name": "counts", "type": "json", "default": { "a": 1 } },
                { "name": "byStatus", "type": "json", "default": [] },
                { "name": "optional", "type": "string", "optional": true },
                { "name": "implicit", "type": "int64", "optional": true },
                { "name": "generic", "type": "double", "optional": true },
                { "name": "default", "type": "bool", "default": true },
                { "name": "readOnly", "type": "double", "default": 0.25 },
                { "name": "image", "type": "data", "optional": true },
                { "name": "title", "type": "string", "default": "", "originalName": "caption" }
              ]
            }
          ]
        }

        """

    @Test("the inferred schema has the relationships and constraints of the models")
    func library() throws {
        let text = try Schema([Article.self]).larderSchema().fileText
        #expect(text == Self.library)
    }

    private static let library = """
        {
          "version": "1.0.0",
          "entities": [
            {
              "name": "Article",
              "attributes": [
                { "name": "title", "type": "string" },
                { "name": "words", "type": "int64", "default": 0 },
                { "name": "published", "type": "date", "optional": true },
                { "name": "genre", "type": "string", "default": "news" },
                { "name": "source", "type": "json", "optional": true },
                { "name": "keywords", "type": "json", "default": [] }
              ],
              "relationships": [
                { "name": "category", "destination": "Category", "inverse": "articles" },
                { "name": "tags", "destination": "Tag", "toMany": true, "inverse": "articles" },
                {
                  "name": "notes",
                  "destination": "Note",
                  "toMany": true,
                  "inverse": "article",
                  "deleteRule": "cascade"
                }
              ]
            },
            {
              "name": "Category",
              "attributes": [{ "name": "name", "type": "string", "unique": true }],
              "relationships": [
                { "name": "articles", "destination": "Article", "toMany": true,\
         "inverse": "category" }
              ]
            },
            {
              "name": "Note",
              "attributes": [{ "name": "text", "type": "string" }],
              "relationships": [{ "name": "article", "destination": "Article", "inverse": "notes" }]
            },
            {
              "name": "Tag",
              "attributes": [{ "name": "name", "type": "string" }],
              "relationships": [
                { "name": "articles", "destination": "Article", "toMany": true, "inverse": "tags" }
              ]
            }
          ]
        }

        """

    @Test("a subclass of a model is a subentity with its own properties")
    func inheritance() throws {
        let text = try Schema([Puppy.self]).larderSchema().fileText
        #expect(text == Self.hierarchy)
    }

    private static let hierarchy = """
        {
          "version": "1.0.0",
          "entities": [
            {
              "name": "Animal",
              "attributes": [
                { "name": "name", "type": "string" },
                { "name": "legs", "type": "int64", "default": 4 }
              ],
              "relationships": [{ "name": "owner", "destination": "Keeper", "inverse": "animals" }]
            },
            {
              "name": "Dog",
              "parent": "Animal",
              "attributes": [
                { "name": "chip", "type": "string", "optional": true, "unique": true },
                { "name": "isGood", "type": "bool", "default": true }
              ],
              "relationships": [{ "name": "friends", "destination": "Animal", "toMany": true }]
            },
            {
              "name": "Keeper",
              "attributes": [{ "name": "name", "type": "string", "default": "" }],
              "relationships": [
                {
                  "name": "animals",
                  "destination": "Animal",
                  "toMany": true,
                  "inverse": "owner",
                  "deleteRule": "cascade"
                }
              ]
            },
            {
              "name": "Puppy",
              "parent": "Dog",
              "attributes": [
                { "name": "weeks", "type": "int64" },
                { "name": "toys", "type": "json", "default": ["ball"] }
              ]
            }
          ]
        }

        """

    @Test("the constraints and indexes of a model are lists of names")
    func constraints() throws {
        let entity = try #require(Schema([ShapesV1.Item.self]).entity(for: ShapesV1.Item.self))
        #expect(entity.uniquenessConstraints == [["title"], ["title", "size"]])
        #expect(
            entity.indices
                == [
                    ["size"], ["size", "title"], ["created"], ["size", "created"],
                ])
        let own = try #require(Schema([Shapes.Own.self]).entitiesByName["Own"])
        #expect(own.uniquenessConstraints == [["id"]])
        #expect(own.attributesByName["id"]?.options == [.unique])
        #expect(own.attributesByName["id"]?.isUnique == true)
    }

    @Test("the related models and the superclasses of a model join its schema")
    func reached() {
        #expect(
            Schema([Note.self]).entities.map(\.name) == ["Article", "Category", "Note", "Tag"])
        #expect(
            Schema(Puppy.self).entities.map(\.name) == ["Animal", "Dog", "Keeper", "Puppy"])
    }

    @Test("names of models that a store does not accept are encoded in the schema")
    func names() throws {
        let text = try Schema(Unusual.self).larderSchema().fileText
        #expect(text == Self.unusual)
    }

    private static let unusual = """
        {
          "version": "1.0.0",
          "entities": [
            {
              "name": "Node",
              "relationships": [
                { "name": "parent", "destination": "Node", "inverse": "children" },
                {
                  "name": "children",
                  "destination": "Node",
                  "toMany": true,
                  "inverse": "parent",
                  "deleteRule": "cascade"
                },
                { "name": "friends", "destination": "Node", "toMany": true }
              ]
            },
            {
              "name": "Unusual",
              "attributes": [
                { "name": "x_5Fhidden", "type": "string", "default": "" },
                { "name": "x_5Fsize", "type": "int64", "default": 1 },
                {
                  "name": "renamed",
                  "type": "string",
                  "default": "a",
                  "preserveValueOnDeletion": true,
                  "originalName": "x_5Fold",
                  "hashModifier": "2"
                }
              ],
              "relationships": [
                { "name": "node", "destination": "Node" },
                {
                  "name": "nodes",
                  "destination": "Node",
                  "toMany": true,
                  "optional": false,
                  "minCount": 1,
                  "maxCount": 3
                }
              ],
              "unique": [["node"], ["x_5Fhidden", "x_5Fsize"]]
            }
          ]
        }

        """

    @Test("two models with the same name are an error that names both")
    func sameName() {
        #expect {
            try Schema(Second.Twin.self).larderSchema()
        } throws: { error in
            "\(error)".contains("First.Twin, ") && "\(error)".contains("Second.Twin")
        }
    }

    @Test("the order of model types changes neither the schema nor its fingerprint")
    func order() throws {
        let types: [any PersistentModel.Type] = [
            Article.self, Category.self, Tag.self, Note.self, Puppy.self, Keeper.self,
        ]
        let schema = try Schema(types).larderSchema()
        for _ in 0..<10 {
            #expect(try Schema(types.shuffled()).larderSchema() == schema)
        }
        #expect(Schema(types) == Schema(types.reversed()))
        #expect(Schema(types).hashValue == Schema(types.reversed()).hashValue)
    }

    @Test("the fingerprint of an inferred schema is the same in every process")
    func fingerprint() throws {
        let schema = Schema(
            [Shapes.Everything.self, Article.self, Puppy.self, Unusual.self, Painted.self],
            version: Schema.Version(2, 1, 0))
        let stored = try schema.larderSchema()
        #expect(stored.version == "2.1.0")
        #expect(stored.fingerprint == "374016c051d7c2a7")
    }

    @Test("a versioned schema has its version")
    func versioned() throws {
        enum VersionThree: VersionedSchema {
            static var models: [any PersistentModel.Type] { [Node.self] }
            static var versionIdentifier: Schema.Version { Schema.Version(3, 0, 0) }
        }
        let schema = Schema(versionedSchema: VersionThree.self)
        #expect(schema.version == Schema.Version(3, 0, 0))
        #expect(try schema.larderSchema().version == "3.0.0")
    }

    @Test("the former name in the wrong one of @Attribute and @Relationship counts too")
    func misplacedOptions() throws {
        let entity = try #require(Schema([Misplaced.self]).entitiesByName["Misplaced"])
        #expect(entity.attributesByName["count"]?.originalName == "number")
        #expect(entity.attributesByName["count"]?.hashModifier == "2")
        #expect(entity.relationshipsByName["next"]?.originalName == "successor")
        #expect(entity.relationshipsByName["next"]?.hashModifier == "3")
        let text = try Schema([Misplaced.self]).larderSchema().fileText
        #expect(text.contains("\"originalName\": \"number\""), "\(text)")
        #expect(text.contains("\"originalName\": \"successor\""), "\(text)")
    }

    @Test("a superclass that is not a model is logged, because its properties are not stored")
    func plainSuperclass() {
        let sentences = Schema([OnPlain.self]).assumptions
        #expect(sentences.count == 1)
        #expect(sentences.first?.contains("OnPlain inherits from") == true)
        #expect(sentences.first?.hasSuffix("properties of that class are not stored") == true)
        #expect(Schema([Shapes.Everything.self]).assumptions == [])
    }

    @Test("the first use of a model on many threads at once makes one description")
    func threads() async {
        let descriptions = await withTaskGroup(of: ObjectIdentifier.self) { group in
            for _ in 0..<64 {
                group.addTask { ObjectIdentifier(ModelDescription.of(FirstUsed.self)) }
            }
            return await group.reduce(into: Set<ObjectIdentifier>()) { $0.insert($1) }
        }
        #expect(descriptions.count == 1)
    }
}

@Model final class Misplaced {
    @Relationship(originalName: "number", hashModifier: "2") var count = 1
    @Attribute(originalName: "successor", hashModifier: "3") var next: Misplaced?

    init() {}
}

class Plain {
    var hidden = 1
}

@Model final class OnPlain: Plain {
    var stored = 1

    override init() { super.init() }
}

/// A model that only the test of threads uses. Its default value makes another model.
@Model final class FirstUsed {
    var other: FirstUsedToo? = FirstUsedToo()
    var x = 1

    init() {}
}

@Model final class FirstUsedToo {
    var words: [String] = ["a"]

    init() {}
}
