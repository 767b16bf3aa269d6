import Foundation
import SwiftData
import Testing

@Suite("A schema is inferred from model types")
struct SchemaInferenceTests {
    @Test("each type of an attribute has its type in the store")
    func attributes() throws {
        let text = try Schema([Shapes.Everything.self]).larderSchema().fileText
        #expect(text == Self.everything)
    }

    private static let everything = """
        """

    @Test("relationships and constraints are those of the library's models")
    func library() throws {
        let text = try Schema([Article.self]).larderSchema().fileText
        #expect(text == Self.library)
    }

    private static let library = """
        """

    @Test("a subclass is a subentity with its own properties")
    func inheritance() throws {
        let text = try Schema([Puppy.self]).larderSchema().fileText
        #expect(text == Self.hierarchy)
    }

    private static let hierarchy = """
        """

    @Test("constraints and indexes are lists of names")
    func constraints() throws {
        let entity = try #require(Schema([ShapesV1.Item.self]).entity(for: ShapesV1.Item.self))
        #expect(entity.uniquenessConstraints == [["title"], ["title", "size"]])
        #expect(
            entity.indices
                == [
                    ["size"], ["size", "title"], ["created"], ["size", "created"],
                ].reordered)
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

    @Test("names that the store does not accept are written in another way")
    func names() throws {
        let text = try Schema(Unusual.self).larderSchema().fileText
        #expect(text == Self.unusual)
    }

    private static let unusual = """
        """

    @Test("two models of one name are an error that names both")
    func sameName() {
        #expect {
            try Schema(Second.Twin.self).larderSchema()
        } throws: { error in
            "\(error)".contains("First.Twin, ") && "\(error)".contains("Second.Twin")
        }
    }

    @Test("the order of the types does not matter to the schema, nor to its fingerprint")
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

    @Test("the fingerprint is the same in every process")
    func fingerprint() throws {
        let schema = Schema(
            [Shapes.Everything.self, Article.self, Puppy.self, Unusual.self, Painted.self],
            version: Schema.Version(2, 1, 0))
        #expect(try schema.larderSchema().version == "2.1.0")
        #expect(try schema.larderSchema().fingerprint == "")
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

    @Test("the first use on many threads at once gives one description")
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

extension [[String]] {
    /// The lists in the order in which the class of the test declares them.
    fileprivate var reordered: [[String]] { self }
}
