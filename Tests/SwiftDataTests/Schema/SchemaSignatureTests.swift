import Foundation
import SwiftData
import Testing

@Suite("The types of a schema have the documented properties")
struct SchemaSignatureTests {
    private func isSame(_ left: any Any.Type, _ right: any Any.Type) -> Bool { left == right }

    @Test("a schema can be made from nothing, entities, a list of types or types, with a version")
    func schemas() throws {
        let version = Schema.Version(1, 2, 3)
        #expect(Schema().entities.isEmpty)
        #expect(Schema().version == Schema.Version(1, 0, 0))
        let byHand = Schema(Schema.Entity("A"), Schema.Entity("B"), version: version)
        #expect(byHand.entitiesByName.keys.sorted() == ["A", "B"])
        #expect(byHand.version == version)
        let list = Schema([Tag.self], version: version)
        let variadic = Schema(Tag.self, Note.self, version: version)
        #expect(list == variadic)
        #expect(list.version == version)
        #expect(list != Schema([Tag.self]))
        #expect(list.entity(for: Note.self)?.name == "Note")
        #expect(list.entity(for: Node.self) == nil)
        #expect(Schema.entityName(for: ShapesV1.Item.self) == "Item")
        #expect(list.debugDescription.contains("Entity Tag"))
        #expect((version.major, version.minor, version.patch) == (1, 2, 3))
        let data = try JSONEncoder().encode(version)
        #expect(try JSONDecoder().decode(Schema.Version.self, from: data) == version)
    }

    @Test("loading a schema from a file that is missing or not a schema is an error")
    func files() throws {
        let url = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: url) }
        #expect(throws: (any Error).self) { try Schema.load(from: url) }
        for text in ["", "[]", "{}", #"{"version":1}"#] {
            try Data(text.utf8).write(to: url)
            #expect(throws: DecodingError.self, "\(text)") { try Schema.load(from: url) }
        }
        #expect(throws: (any Error).self) {
            try Schema().save(to: url.appending(path: "x/y"))
        }
    }

    @Test("the metadata of a property has its name, key path, default and options")
    func metadata() throws {
        let options = Schema.Attribute(.unique)
        let metadata = Schema.PropertyMetadata(
            name: "title", keypath: \Article.title, defaultValue: "x", metadata: options)
        let children = Mirror(reflecting: metadata).children.map(\.value)
        #expect(children[0] as? String == "title")
        #expect(children[1] as? KeyPath<Article, String> == \Article.title)
        #expect(children[2] as? String == "x")
        #expect(children[3] as? Schema.Attribute === options)
        let short = Schema.PropertyMetadata(name: "words", keypath: \Article.words)
        #expect(Mirror(reflecting: short).children.count == 4)
        let declared: [Schema.PropertyMetadata] = Article.schemaMetadata
        #expect(declared.count == 9)
    }

    @Test("an entity has its properties by kind and by name, and they can be set")
    func entities() throws {
        let entity = Schema.Entity("Thing")
        #expect(entity.properties.isEmpty)
        #expect(entity.superentity == nil)
        let title = Schema.Attribute(name: "title", valueType: String.self)
        entity.storedProperties = [title]
        entity.inheritedProperties = [Schema.Attribute(name: "size", valueType: Int.self)]
        #expect(entity.properties.map(\.name) == ["size", "title"])
        #expect(entity.attributes.map(\.name).sorted() == ["size", "title"])
        #expect(entity.relationships.isEmpty)
        #expect(entity.storedPropertiesByName.keys.sorted() == ["size", "title"])
        #expect(entity.inheritedPropertiesByName.keys.sorted() == ["size"])
        entity.indices = [["title"]]
        entity.uniquenessConstraints = [["title"], ["size"]]
        let same = Schema.Entity("Thing", properties: title)
        #expect(same != entity)
        same.inheritedProperties = entity.inheritedProperties
        same.indices = entity.indices
        same.uniquenessConstraints = entity.uniquenessConstraints
        #expect(same == entity)
        let parent = Schema.Entity("Parent", subentities: same, properties: title)
        #expect(same.superentity === parent)
        #expect(same.inheritedProperties.map(\.name) == ["title"])
        #expect(parent.debugDescription == "Entity Parent (title: attribute)")
        let article = try #require(Schema(Article.self).entity(for: Article.self))
        #expect(article.attributes.count == 6)
        #expect(
            article.relationships == Set(article.relationshipsByName.values))
        #expect(article.relationships.count == 3)
    }

    @Test("each option of an attribute is distinct, and reports what it changes")
    func attributeOptions() throws {
        let options: [Schema.Attribute.Option] = [
            .unique, .externalStorage, .allowsCloudEncryption, .preserveValueOnDeletion,
            .ephemeral, .spotlight, .codable, .transformable(by: TintTransformer.self),
            .transformable(by: "Other"),
        ]
        #expect(Set(options).count == 9)
        #expect(
            Schema.Attribute.Option.transformable(by: TintTransformer.self)
                == .transformable(by: "TintTransformer"))
        let data = try JSONEncoder().encode(options)
        #expect(try JSONDecoder().decode([Schema.Attribute.Option].self, from: data) == options)
        #expect(Schema.Attribute(.unique).isUnique)
        #expect(Schema.Attribute(.ephemeral).isTransient)
        #expect(Schema.Attribute(.codable).isCodable)
        #expect(Schema.Attribute(.transformable(by: "T")).isTransformable)
        let plain = Schema.Attribute(.spotlight, .externalStorage, .allowsCloudEncryption)
        #expect(plain.options.count == 3)
        #expect(!plain.isUnique && !plain.isTransient && !plain.isCodable)
        #expect(!plain.isTransformable && plain.isAttribute && !plain.isRelationship)
    }

    @Test("a schema attribute has the values that its initializers set")
    func attributes() {
        let written = Schema.Attribute(.unique, originalName: "old", hashModifier: "2")
        #expect(written.originalName == "old")
        #expect(written.hashModifier == "2")
        let made = Schema.Attribute(
            name: "a", originalName: "b", options: [.spotlight], valueType: Int?.self,
            defaultValue: 5, hashModifier: "x")
        #expect(made.name == "a")
        #expect(made.originalName == "b")
        #expect(isSame(made.valueType, Int?.self))
        #expect(made.isOptional)
        #expect(made.defaultValue as? Int == 5)
        #expect(made.debugDescription == "Attribute a: Optional<Int>")
        let short = Schema.Attribute(name: "a", valueType: Int.self)
        #expect(short.originalName == "a")
        #expect(!short.isOptional)
        #expect(short.hashModifier == nil)
        #expect(short != made)
        made.originalName = "a"
        made.options = []
        made.valueType = Int.self
        made.hashModifier = nil
        #expect(short == made)
        #expect(short.hashValue == made.hashValue)
    }

    @Test("a composite attribute has the members of its structure")
    func composites() throws {
        let entity = try #require(Schema(Article.self).entity(for: Article.self))
        let source = try #require(entity.attributesByName["source"] as? Schema.CompositeAttribute)
        #expect(source.properties.map(\.name) == ["site", "rank"])
        #expect(source.properties.map { "\($0.valueType)" } == ["String", "Int"])
        #expect(source.isOptional)
        let made = Schema.CompositeAttribute(
            name: "source", originalName: "old", options: [.spotlight], valueType: Source?.self,
            defaultValue: nil, hashModifier: "1")
        #expect(made.originalName == "old")
        #expect(made != source)
        let same = Schema.CompositeAttribute(name: "source", valueType: Source?.self)
        #expect(same != source)
        same.properties = source.properties
        #expect(same == source)
        let data = try JSONEncoder().encode(source)
        #expect(try JSONDecoder().decode(Schema.CompositeAttribute.self, from: data) == source)
    }

    @Test("a relationship has what its initializer sets, and its documented defaults")
    func relationships() throws {
        let plain = Schema.Relationship()
        #expect(plain.deleteRule == .nullify)
        #expect(plain.minimumModelCount == 0)
        #expect(plain.maximumModelCount == 0)
        #expect(plain.options.isEmpty && !plain.isUnique)
        #expect(plain.inverseKeyPath == nil && plain.inverseName == nil)
        #expect(plain.isRelationship && !plain.isAttribute && !plain.isTransient)
        let full = Schema.Relationship(
            .unique, deleteRule: .deny, minimumModelCount: 1, maximumModelCount: nil,
            originalName: "old", inverse: \Note.article, hashModifier: "3")
        #expect(full.isUnique)
        #expect(full.options == [.unique])
        #expect(full.deleteRule == .deny)
        #expect(full.minimumModelCount == 1)
        #expect(full.maximumModelCount == nil)
        #expect(full.originalName == "old")
        #expect(full.inverseKeyPath == \Note.article)
        #expect(full.hashModifier == "3")
        #expect(full != plain)
        let rules: [Schema.Relationship.DeleteRule] = [.noAction, .nullify, .cascade, .deny]
        #expect(rules.map(\.rawValue) == ["noAction", "nullify", "cascade", "deny"])
        #expect(Schema.Relationship.Option.unique == .unique)
        let entity = try #require(Schema(Article.self).entity(for: Article.self))
        let notes = try #require(entity.relationshipsByName["notes"])
        #expect(isSame(notes.valueType, [Note].self))
        #expect(notes.debugDescription.hasPrefix("Relationship notes: Array<Note>, inverse"))
        let data = try JSONEncoder().encode(notes)
        #expect(try JSONDecoder().decode(Schema.Relationship.self, from: data) == notes)
    }

    @Test("indexes and constraints are schema properties without values")
    func constraints() {
        let index = Schema.Index<ShapesV1.Item>(.binary([\.size]), .rtree([\.size, \.created]))
        #expect(index.indices.count == 2)
        guard case .binary(let first) = index.indices[0], case .rtree(let second) = index.indices[1]
        else {
            Issue.record("the kinds of the indexes")
            return
        }
        let kind: Schema.Index<ShapesV1.Item>.Types<ShapesV1.Item> = .binary(first)
        #expect(Schema.Index<ShapesV1.Item>(kind) == Schema.Index<ShapesV1.Item>([\.size]))
        #expect(second == [\.size, \.created])
        let unique = Schema.Unique<ShapesV1.Item>([\.title])
        #expect(unique.constraints == [[\.title]])
        let properties: [any SchemaProperty] = [index, unique]
        #expect(properties.map(\.isUnique) == [false, true])
        for property in properties {
            #expect(!property.isAttribute && !property.isRelationship)
            #expect(!property.isTransient && !property.isOptional)
            #expect(property.name == property.originalName)
        }
        #expect(index.name == "SwiftData.Schema.Index")
        #expect(isSame(index.valueType, Schema.Index<ShapesV1.Item>.self))
        #expect(unique.name == "SwiftData.Schema.Unique")
        #expect(isSame(unique.valueType, Schema.Unique<ShapesV1.Item>.self))
    }

    @Test("options without an effect do not change what is stored")
    func optionsWithoutEffect() throws {
        let container = try ModelContainer(
            for: Marked.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
        let context = ModelContext(container)
        context.insert(Marked())
        try context.save()
        let read = try #require(
            try ModelContext(container).fetch(FetchDescriptor<Marked>()).first)
        #expect(read.text == "text")
        #expect(read.secret == "secret")
        #expect(read.picture == Data([1, 2]))
        #expect(read.suit == .spades)
        let byName = FetchDescriptor<Marked>(predicate: #Predicate { $0.text == "text" })
        #expect(try context.fetchCount(byName) == 1)
    }
}

/// Options that have no effect here, and one that changes the form of a value.
@Model final class Marked {
    enum Suit: String, Codable { case hearts, spades }

    @Attribute(.spotlight) var text: String = "text"
    @Attribute(.allowsCloudEncryption) var secret: String = "secret"
    @Attribute(.externalStorage) var picture: Data = Data([1, 2])
    @Attribute(.codable) var suit: Suit = Suit.spades

    init() {}
}
