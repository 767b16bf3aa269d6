import Foundation
import SwiftData
import Testing

@Suite("A schema describes its entities and their properties")
struct SchemaPropertyTests {
    @Test("the metadata of a model class has the labels by which programs read it")
    func metadata() throws {
        let metadata = Shapes.Own.schemaMetadata
        #expect(
            Mirror(reflecting: metadata[0]).children.map(\.label) == [
                "name", "keypath", "defaultValue", "metadata",
            ])
        #expect(metadata.count == 2)
    }

    @Test("an entity has the class of its models for programs that read it by reflection")
    func objectType() throws {
        let entity = try #require(Schema(Node.self).entities.first)
        let labels = Mirror(reflecting: entity).children.compactMap(\.label)
        #expect(labels.contains("_objectType"))
        #expect(labels.contains("_mangledName"))
    }

    @Test("an attribute has its type, its default and its options")
    func attributes() throws {
        let entity = try #require(
            Schema(Shapes.Everything.self).entity(for: Shapes.Everything.self))
        let attributes = entity.attributesByName
        #expect(attributes["text"]?.valueType == String.self)
        #expect(attributes["text"]?.defaultValue as? String == "text")
        #expect(attributes["optional"]?.isOptional == true)
        #expect(attributes["generic"]?.isOptional == true)
        #expect(attributes["implicit"]?.valueType == Int?.self)
        #expect(attributes["image"]?.options == [.externalStorage])
        #expect(attributes["title"]?.originalName == "caption")
        #expect(attributes["title"]?.name == "title")
        #expect(attributes["progress"]?.isTransient == true)
        #expect(attributes["address"] is Schema.CompositeAttribute)
        #expect(attributes["place"] is Schema.CompositeAttribute)
        #expect(!(attributes["words"] is Schema.CompositeAttribute))
        #expect(!(attributes["status"] is Schema.CompositeAttribute))
        #expect(attributes["isSelected"] == nil)
        #expect(attributes["half"] == nil)
    }

    @Test("a relationship has its destination, its rule and its key path")
    func relationships() throws {
        let schema = Schema(Article.self)
        let relationships = try #require(schema.entity(for: Article.self)).relationshipsByName
        let notes = try #require(relationships["notes"])
        #expect(notes.destination == "Note")
        #expect(notes.deleteRule == .cascade)
        #expect(notes.inverseName == "article")
        #expect(notes.inverseKeyPath == \Note.article)
        #expect(notes.keypath == \Article.notes)
        #expect(!notes.isToOneRelationship)
        #expect(!notes.isOptional)
        let category = try #require(relationships["category"])
        #expect(category.isToOneRelationship)
        #expect(category.isOptional)
        #expect(category.originalName == "category")
    }

    @Test("the entity of a subclass has its superclass's properties as inherited ones")
    func inheritance() throws {
        let schema = Schema(Puppy.self)
        let dog = try #require(schema.entity(for: Dog.self))
        #expect(dog.superentityName == "Animal")
        #expect(dog.superentity === schema.entitiesByName["Animal"])
        #expect(dog.subentities.map(\.name) == ["Puppy"])
        #expect(dog.inheritedProperties.map(\.name) == ["name", "legs", "owner"])
        let all = ["name", "legs", "owner", "chip", "isGood", "friends"]
        #expect(dog.storedProperties.map(\.name) == all)
        #expect(dog.properties.map(\.name) == all)
        #expect(dog.attributesByName["name"] != nil)
        #expect(dog.storedPropertiesByName["name"] != nil)
        #expect(dog.inheritedPropertiesByName["owner"]?.isRelationship == true)
    }

    @Test("a schema that was saved to a file is equal after it was loaded")
    func file() throws {
        let schema = Schema(
            [Article.self, Puppy.self, Unusual.self, Shapes.Everything.self],
            version: Schema.Version(1, 2, 3))
        let url = FileManager.default.temporaryDirectory
            .appending(path: "larder-schema-\(UUID()).json")
        defer { try? FileManager.default.removeItem(at: url) }
        try schema.save(to: url)
        let loaded = try Schema.load(from: url)
        #expect(loaded == schema)
        #expect(loaded.entitiesByName["Dog"]?.superentity === loaded.entitiesByName["Animal"])
        #expect(try loaded.larderSchema().fingerprint == schema.larderSchema().fingerprint)
        let text = loaded.entitiesByName["Everything"]?.attributesByName["text"]
        #expect(text?.defaultValue as? String == "text")
    }

    @Test("decoding a schema of a newer format is an error")
    func newerForm() {
        let text = #"{"encodingVersion":{"major":9,"minor":0,"patch":0},"entities":[]}"#
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(Schema.self, from: Data(text.utf8))
        }
    }

    @Test("an entity can be created without a model class")
    func byHand() throws {
        let title = Schema.Attribute(name: "title", options: [.unique], valueType: String.self)
        let entity = Schema.Entity("Thing", properties: title)
        entity.uniquenessConstraints = [["title"]]
        let schema = Schema(
            entity, Schema.Entity("Other", properties: title), version: Schema.Version(1, 0, 0))
        #expect(schema.entities.map(\.name) == ["Other", "Thing"])
        #expect(schema.descriptions.isEmpty)
        #expect(
            try schema.larderSchema().entity(named: "Thing")?.uniquenessConstraints == [["title"]])
        #expect(Schema.Entity("A", subentities: entity).subentities == [entity])
        #expect(entity.superentityName == "A")
    }

    @Test("versions of a schema are ordered by their numbers")
    func versions() {
        #expect(Schema.Version(1, 2, 3) < Schema.Version(1, 10, 0))
        #expect("\(Schema.Version(1, 2, 3))" == "1.2.3")
        #expect(Schema().encodingVersion == Schema.schemaEncodingVersion)
    }

    @Test("lists of constraints are equal and encoded by the names of the properties")
    func constraints() throws {
        let unique = Schema.Unique<ShapesV1.Item>([\.title], [\.title, \.size])
        let data = try JSONEncoder().encode(unique)
        #expect(String(decoding: data, as: UTF8.self) == #"[["title"],["title","size"]]"#)
        let decoded = try JSONDecoder().decode(Schema.Unique<ShapesV1.Item>.self, from: data)
        #expect(decoded == unique)
        #expect(decoded.constraints == [[\.title], [\.title, \.size]])
        let index = Schema.Index<ShapesV1.Item>([\.size])
        #expect(index == Schema.Index(.binary([\.size])))
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(
                Schema.Index<ShapesV1.Item>.self, from: Data(#"[["none"]]"#.utf8))
        }
    }
}
