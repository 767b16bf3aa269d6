import FoundationEssentials
import LarderModel
import Testing

@testable import LarderStore

@Suite("a change set")
struct ChangeSetTests {
    private let library: Library

    init() throws { library = try Library() }

    @Test("an empty change set is saved")
    func empty() throws {
        #expect(try library.saved() == SaveResult())
    }

    @Test("a change set of too many changes is rejected before it is checked")
    func tooMany() throws {
        let change = Change.delete(library.identifier("Tag", 1), ifVersion: nil)
        let set = ChangeSet(Array(repeating: change, count: Limits.changesMax + 1))
        #expect(throws: LarderError.self) { try library.writer.save([set])[0].get() }
    }

    @Test("a change set refers to objects of later and earlier inserts")
    func temporaryReferences() throws {
        let result = try library.saved(
            .insert(
                .new("a", "Article"),
                values: [
                    "title": "t", "category": .object(.new("c", "Category")),
                    "tags": .objects([.new("t2", "Tag"), .new("t1", "Tag")]),
                    "cover": .object(.new("v", "Cover")), "source": .object(.new("a", "Article")),
                ]),
            .insert(.new("t1", "Tag"), values: [:]),
            .insert(
                .new("l", "Collection"),
                values: ["articles": .objects([.new("b", "Article"), .new("a", "Article")])]),
            .insert(.new("t2", "Tag"), values: [:]),
            .insert(.new("v", "Cover"), values: [:]),
            .insert(.new("c", "Category"), values: ["name": "n"]),
            .insert(.new("b", "Article"), values: ["title": "u"]))
        let inserted = result.inserted
        #expect(
            inserted.map(\.entityName) == [
                "Article", "Tag", "Collection", "Tag", "Cover", "Category", "Article",
            ])
        let article = inserted[0]
        #expect(try library.keys(article, "category") == library.keys([inserted[5]]))
        #expect(try library.keys(article, "tags") == library.keys([inserted[3], inserted[1]]))
        #expect(try library.keys(article, "cover") == library.keys([inserted[4]]))
        #expect(try library.keys(article, "source") == library.keys([article]))
        #expect(try library.keys(inserted[2], "articles") == library.keys([inserted[6], article]))
        for object in inserted { #expect(try library.version(object) == 1) }
    }

    @Test(
        "a relationship to a later insert is set when the insert is done", arguments: [false, true])
    func waiting(isUpserting: Bool) throws {
        var set = ChangeSet([
            .insert(
                .new("a", "Article"),
                values: ["title": "a", "category": .object(.new("c", "Category"))]),
            .insert(.new("b", "Article"), values: ["title": "b"]),
            .insert(
                .new("c", "Category"),
                values: ["name": "c", "articles": .objects([.new("b", "Article")])]),
        ])
        set.onUniqueConflict = isUpserting ? .upsert : .error
        let inserted = try library.writer.save([set])[0].get().inserted
        // The list in the category's insert does not unlink the pending article.
        #expect(try library.keys(inserted[0], "category") == library.keys([inserted[2]]))
        #expect(
            try library.keys(inserted[2], "articles") == library.keys([inserted[0], inserted[1]]))
    }

    @Test("a change set with inconsistent temporary identifiers is rejected")
    func temporaryErrors() throws {
        let insert = Change.insert(.new("a", "Tag"), values: [:])
        let undefined = try library.refusal(
            .insert(
                .new("a", "Article"), values: ["title": "t", "cover": .object(.new("v", "Cover"))]))
        #expect(undefined.code == .invalidChangeSet)
        #expect(
            undefined.message.contains(PersistentIdentifier.new("v", "Cover").uriRepresentation))
        #expect(try library.refusal(insert, insert).code == .invalidChangeSet)
        #expect(
            try library.refusal(insert, .delete(.new("a", "Tag"), ifVersion: nil)).code
                == .invalidChangeSet)
        #expect(
            try library.refusal(insert, .update(.new("a", "Tag"), ifVersion: nil, values: [:])).code
                == .invalidChangeSet)
        #expect(
            try library.refusal(.insert(library.identifier("Tag", 1), values: [:])).code
                == .invalidChangeSet)
        let otherEntity = try library.refusal(
            insert,
            .insert(
                .new("b", "Article"), values: ["title": "t", "cover": .object(.new("a", "Cover"))]))
        #expect(otherEntity.code == .invalidChangeSet)
    }

    @Test("a change set that updates an object twice, or a deleted one, is rejected")
    func orderErrors() throws {
        let tag = try library.insert("Tag")
        let update = Change.update(tag, ifVersion: nil, values: [:])
        let delete = Change.delete(tag, ifVersion: nil)
        let twice = try library.refusal(update, update)
        #expect(twice.code == .invalidChangeSet)
        #expect(twice.uri == tag.uriRepresentation)
        #expect(try library.refusal(delete, update).code == .invalidChangeSet)
        #expect(try library.saved(update, delete, delete).deletedCount == 1)
    }

    @Test("changes of foreign, unknown and deleted objects are rejected with different errors")
    func strangers() throws {
        let tag = try library.insert("Tag")
        let foreign = PersistentIdentifier(store: UUID(), entityName: "Tag", key: 1)
        #expect(
            try library.refusal(.delete(foreign, ifVersion: nil)).code == .foreignIdentifier)
        let gone = library.identifier("Tag", 99)
        let missing = try library.refusal(.update(gone, ifVersion: nil, values: [:]))
        #expect(missing.code == .objectNotFound)
        #expect(missing.uri == gone.uriRepresentation)
        #expect(try library.refusal(.delete(gone, ifVersion: nil)).code == .objectNotFound)
        func link(_ name: String, _ value: Value) throws -> LarderError {
            try library.refusal(
                .insert(.new("a", "Article"), values: ["title": "t", name: value]))
        }
        #expect(try link("tags", .objects([foreign])).code == .foreignIdentifier)
        #expect(try link("tags", .objects([tag, gone])).code == .objectNotFound)
        #expect(try link("tags", .objects([tag, tag])).code == .invalidChangeSet)
        #expect(try link("category", .object(tag)).code == .wrongType)
        for name in ["category", "collection", "cover", "source"] {
            let entityName = name == "source" ? "Article" : name.capitalizedName
            let error = try link(name, .object(library.identifier(entityName, 99)))
            #expect(error.code == .objectNotFound)
            #expect(error.uri?.hasSuffix("/\(entityName)/p99") == true)
        }
        let lists = try library.refusal(
            .insert(
                .new("c", "Collection"),
                values: ["articles": .objects([library.identifier("Article", 99)])]))
        #expect(lists.code == .objectNotFound)
    }

    @Test("a change set increments the version of each object that it changes once")
    func versions() throws {
        let article = try library.insert("Article", ["title": "t"])
        let (category, tag) = (
            try library.insert("Category", ["name": "n"]), try library.insert("Tag")
        )
        let result = try library.saved(
            .update(
                article, ifVersion: 1,
                values: [
                    "title": "u", "category": .object(category), "tags": .objects([tag]),
                ]),
            .update(category, ifVersion: 1, values: ["articles": .objects([])]),
            .update(tag, ifVersion: 1, values: [:]))
        #expect(result.updatedVersions == [2, 2, 2])
        #expect(try library.version(article) == 2)
        #expect(try library.version(category) == 2)
        #expect(try library.version(tag) == 2)
    }

    @Test("a save increments the version of an object whose to-one changes from the other side")
    func versionsOfOthers() throws {
        let article = try library.insert("Article", ["title": "t"])
        let category = try library.insert("Category", ["name": "n"])
        try library.saved(
            .update(category, ifVersion: 1, values: ["articles": .objects([article])]))
        #expect(try library.version(article) == 2)
        try library.saved(.update(article, ifVersion: 2, values: ["category": nil]))
        #expect(try library.version(category) == 2)
        let cover = try library.insert("Cover", ["article": .object(article)])
        #expect(try library.version(article) == 4)
        try library.saved(.delete(cover, ifVersion: 1))
        #expect(try library.version(article) == 5)
    }

    @Test("a change that expects another version is rejected, with both versions")
    func versionConflict() throws {
        let tag = try library.insert("Tag")
        try library.saved(.update(tag, ifVersion: 1, values: [:]))
        for change in [
            Change.update(tag, ifVersion: 1, values: [:]), .delete(tag, ifVersion: 1),
        ] {
            let error = try library.refusal(change)
            #expect(error.code == .versionConflict)
            #expect(error.message == "\(tag.uriRepresentation) has version 2, not 1")
            #expect(error.uri == tag.uriRepresentation)
        }
    }

    @Test("a change set that duplicates a unique value is rejected, with the existing object")
    func uniqueness() throws {
        let first = try library.insert("Category", ["name": "e\u{301}"])
        let second = try library.insert("Category", ["name": "b"])
        let inserted = try library.refusal(
            .insert(.new("a", "Category"), values: ["name": "\u{e9}"]))
        #expect(inserted.code == .uniquenessViolated)
        #expect(inserted.uri == first.uriRepresentation)
        #expect(
            inserted.message
                == "Category.name must be unique, and \(first.uriRepresentation) has the same")
        let updated = try library.refusal(
            .update(second, ifVersion: nil, values: ["name": "\u{e9}"]))
        #expect(updated.uri == first.uriRepresentation)
        let within = try library.refusal(
            .insert(.new("a", "Category"), values: ["name": "c"]),
            .insert(.new("b", "Category"), values: ["name": "c"]))
        #expect(within.code == .uniquenessViolated)
        #expect(within.uri == nil)
        try library.saved(
            .delete(first, ifVersion: nil),
            .insert(.new("a", "Category"), values: ["name": "\u{e9}"]))
    }

    @Test("a change set that duplicates a combination is rejected from either side")
    func combinedUniqueness() throws {
        let collection = try library.insert("Collection")
        let other = try library.insert("Collection")
        let values: [String: Value] = ["title": "t", "collection": .object(collection)]
        let first = try library.insert("Article", values)
        let second = try library.insert("Article", ["title": "t", "collection": .object(other)])
        try library.insert("Article", ["title": "t"])
        try library.insert("Article", ["title": "t"])
        let inserted = try library.refusal(.insert(.new("a", "Article"), values: values))
        #expect(inserted.message.hasPrefix("Article.title and Article.collection must be unique"))
        #expect(inserted.uri == first.uriRepresentation)
        let moved = try library.refusal(
            .update(collection, ifVersion: nil, values: ["articles": .objects([first, second])]))
        #expect(moved.code == .uniquenessViolated)
        #expect(moved.uri == first.uriRepresentation)
    }

    @Test("a key is never used twice, also after a failed change set")
    func keys() throws {
        let tag = try library.insert("Tag")
        try library.saved(.delete(tag, ifVersion: nil))
        #expect(try library.insert("Tag").permanentKey == 2)
        _ = try library.refusal(
            .insert(.new("a", "Tag"), values: [:]), .delete(tag, ifVersion: nil))
        #expect(try library.insert("Tag").permanentKey == 3)
    }
}

extension String {
    /// For example `Category` for `category`.
    fileprivate var capitalizedName: String { prefix(1).uppercased() + dropFirst() }
}
