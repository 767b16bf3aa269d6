import FoundationEssentials
import LarderModel
import LarderQuery
import TestSupport
import Testing

@testable import LarderSQL
@testable import LarderStore

@Suite("derived attributes are updated with")
struct DerivationTests {
    private let library: Library

    init() throws { library = try Library(schema: Newsroom.schema()) }

    private func article(
        _ title: String, _ wordCount: Int64 = 0, _ values: [String: Value] = [:]
    ) throws -> PersistentIdentifier {
        try library.insert(
            "Article",
            values.merging(["title": .string(title), "wordCount": .int(wordCount)]) { $1 })
    }

    private func update(_ object: PersistentIdentifier, _ values: [String: Value]) throws {
        try library.saved(.update(object, ifVersion: nil, values: values))
    }

    private func value(_ object: PersistentIdentifier, _ name: String) throws -> SQLValue {
        try library.value(object, name)
    }

    /// Compares all derived values, not only those of a test.
    private func expectAgreement() throws {
        let (stored, computed) = try library.derivedValues()
        #expect(stored == computed)
    }

    @Test("derived attributes are updated with the object's own attributes")
    func ownAttributes() throws {
        let article = try article("Été", 4)
        #expect(try value(article, "searchTitle") == .text("ete"))
        #expect(try value(article, "share") == .integer(4))
        #expect(try value(article, "isOrphan") == .integer(1))
        try update(article, ["title": "Ñu", "wordCount": 6])
        #expect(try value(article, "searchTitle") == .text("nu"))
        #expect(try value(article, "share") == .integer(2))
        // A division by zero is nil, as in a query.
        try update(article, ["wordCount": 3])
        #expect(try value(article, "share") == .null)
        #expect(try library.version(article) == 3)
    }

    @Test("derived attributes are updated when an object moves between owners, from either side")
    func moves() throws {
        let one = try library.insert("Category", ["name": "one"])
        let two = try library.insert("Category", ["name": "two"])
        let article = try article("a", 60, ["category": .object(one)])
        #expect(try value(one, "articleCount") == .integer(1))
        #expect(try value(one, "wordTotal") == .integer(60))
        #expect(try value(one, "longCount") == .integer(1))
        #expect(try value(article, "categoryName") == .text("one"))
        #expect(try value(article, "isOrphan") == .integer(0))
        try update(article, ["category": .object(two)])
        #expect(try value(one, "wordTotal") == .integer(0))
        #expect(try value(two, "wordTotal") == .integer(60))
        #expect(try value(article, "categoryName") == .text("two"))
        try update(one, ["articles": .objects([article])])
        #expect(try value(two, "articleCount") == .integer(0))
        #expect(try value(article, "categoryName") == .text("one"))
        #expect(try value(article, "categoryWords") == .integer(60))
        try expectAgreement()
    }

    @Test("derived attributes are updated along relationships, through other derived attributes")
    func readAttributes() throws {
        let category = try library.insert("Category", ["name": "c"])
        let first = try article("a", 10, ["category": .object(category)])
        let second = try article("b", 20, ["category": .object(category)])
        let result = try library.saved(
            .update(second, ifVersion: nil, values: ["wordCount": 70]),
            .update(category, ifVersion: nil, values: ["name": "d"]))
        #expect(try value(category, "wordTotal") == .integer(80))
        #expect(try value(category, "longCount") == .integer(1))
        #expect(try value(first, "categoryWords") == .integer(80))
        #expect(try value(first, "categoryName") == .text("d"))
        #expect(
            try library.history(try #require(result.transaction)).map(\.description) == [
                "updated Article 1 categoryName,categoryWords",
                "updated Article 2 categoryName,categoryWords,wordCount",
                "updated Category 1 longCount,name,wordTotal",
            ])
        #expect(try library.version(first) == 1)
    }

    @Test("derived attributes do not increment the version of an object that only others changed")
    func versions() throws {
        let category = try library.insert("Category", ["name": "c"])
        let article = try article("a", 10, ["category": .object(category)])
        try update(article, ["wordCount": 20])
        #expect(try value(category, "wordTotal") == .integer(20))
        #expect(try library.version(category) == 1)
        let result = try library.saved(.delete(article, ifVersion: nil))
        #expect(try library.version(category) == 1)
        #expect(
            try library.history(try #require(result.transaction)).map(\.description)
                == ["updated Category 1 articleCount,articles,wordTotal", "deleted Article 1"])
    }

    @Test("derived attributes follow many-to-many, ordered, self and one-to-one relationships")
    func otherKinds() throws {
        let tags = try ["x", "z", "y"].map { try library.insert("Tag", ["text": .string($0)]) }
        let first = try article("a", 10, ["tags": .objects(tags), "price": 3])
        let second = try article("b", 20, ["tags": .objects([tags[0]]), "price": 4])
        #expect(try value(tags[0], "words") == .integer(30))
        #expect(try value(first, "lastTag") == .text("z"))
        try update(tags[1], ["articles": .objects([second])])
        #expect(try value(first, "lastTag") == .text("y"))
        #expect(try value(second, "lastTag") == .text("z"))
        try library.saved(.delete(tags[1], ifVersion: nil))
        #expect(try value(second, "lastTag") == .text("x"))

        try update(first, ["friends": .objects([first, second]), "parent": .object(second)])
        #expect(try value(first, "friendPrices") == .text("7"))
        #expect(try value(second, "friendPrices") == .text("3"))
        #expect(try value(first, "parentTitle") == .text("b"))
        #expect(try value(second, "childWords") == .real(10))
        try update(second, ["title": "B!", "price": 5, "twin": .object(first)])
        #expect(try value(first, "friendPrices") == .text("8"))
        #expect(try value(first, "parentTitle") == .text("b!"))
        #expect(try value(first, "twinTitle") == .text("B!"))

        let cover = try library.insert("Cover", ["pages": 7, "article": .object(first)])
        #expect(try value(first, "pages") == .integer(7))
        #expect(try value(cover, "articleTitle") == .text("a"))
        try update(second, ["cover": .object(cover)])
        #expect(try value(first, "pages") == .integer(0))
        #expect(try value(cover, "articleTitle") == .text("B!"))
        try expectAgreement()
    }

    @Test("derived attributes follow relationships without an inverse")
    func withoutInverse() throws {
        let source = try article("s", 5)
        let reader = try article(
            "r", 1, ["source": .object(source), "related": .objects([source])])
        try update(source, ["title": "t", "wordCount": 6])
        #expect(try value(reader, "sourceTitle") == .text("t"))
        #expect(try value(reader, "relatedWords") == .integer(6))
        try library.saved(.delete(source, ifVersion: nil))
        #expect(try value(reader, "sourceTitle") == .null)
        #expect(try value(reader, "relatedWords") == .integer(0))
    }

    @Test("a wrong base value of a derived attribute is a conflict")
    func base() throws {
        let category = try library.insert("Category", ["name": "c"])
        _ = try article("a", 10, ["category": .object(category)])
        let error = try library.refusal(
            .update(
                category, ifVersion: nil, values: ["name": "d"], base: ["articleCount": 0]))
        #expect(error.code == .versionConflict)
        try library.saved(
            .update(
                category, ifVersion: nil, values: ["name": "d"], base: ["articleCount": 1]))
        #expect(try value(category, "wordTotal") == .integer(10))
    }

    @Test("derived attributes follow members of JSON documents, and predicates over lists")
    func membersAndPredicates() throws {
        let library = try Library(
            schema: SchemaFile.schema(
                parsing: """
                    {"version": "1.0.0", "entities": [{"name": "Note",
                     "attributes": [
                      {"name": "data", "type": "json", "optional": true},
                      {"name": "city", "type": "string", "derived": "data.city",
                       "optional": true},
                      {"name": "size", "type": "double", "derived": "data.size * 2",
                       "optional": true, "preserveValueOnDeletion": true},
                      {"name": "hasPort", "type": "bool",
                       "derived": "(ANY others.city == 'Kiel')"},
                      {"name": "cities", "type": "string",
                       "derived": "SUBQUERY(others, $n, $n.size > 1).@min.city",
                       "optional": true}],
                     "relationships": [
                      {"name": "others", "destination": "Note", "toMany": true}]}]}
                    """))
        let one = try library.insert("Note", ["data": .json(#"{"city": "Kiel", "size": 1}"#)])
        let two = try library.insert("Note", ["others": .objects([one])])
        #expect(try library.value(one, "city") == .text("Kiel"))
        #expect(try library.value(one, "size") == .real(2))
        #expect(try library.value(two, "hasPort") == .integer(1))
        #expect(try library.value(two, "cities") == .text("Kiel"))
        let data = Value.json(#"{"city": 7, "size": 0}"#)
        try library.saved(.update(one, ifVersion: nil, values: ["data": data]))
        #expect(try library.value(one, "city") == .null)
        #expect(try library.value(two, "hasPort") == .integer(0))
        #expect(try library.value(two, "cities") == .null)
        // The preserved value of a deleted object is the one from before the set.
        try library.saved(
            .update(one, ifVersion: nil, values: ["data": .null]), .delete(one, ifVersion: nil))
        #expect(
            try library.rows("SELECT property, value FROM _preserved")
                == [[.text("size"), .real(0)]])
    }

    @Test("derived attributes are updated by deletes under every delete rule")
    func deletes() throws {
        let category = try library.insert("Category", ["name": "c"])
        let collection = try library.insert("Collection")
        let shelf = try library.insert("Shelf", ["name": "s"])
        let both = ["category": Value.object(category), "collection": .object(collection)]
        _ = try article("a", 10, both)
        let kept = try article(
            "b", 20, ["category": .object(category), "shelf": .object(shelf)])
        #expect(try value(collection, "titles") == .integer(1))
        #expect(try value(kept, "shelfName") == .text("s"))
        try library.saved(.delete(collection, ifVersion: nil))
        #expect(try value(category, "wordTotal") == .integer(20))
        let result = try library.saved(.delete(shelf, ifVersion: nil))
        #expect(try value(kept, "shelf") == .integer(1))
        #expect(try value(kept, "shelfName") == .null)
        #expect(
            try library.history(try #require(result.transaction)).map(\.description)
                == ["updated Article 2 shelfName", "deleted Shelf 1"])
        try library.saved(.delete(category, ifVersion: nil))
        #expect(try value(kept, "categoryName") == .null)
        try expectAgreement()
    }

    @Test("derived attributes follow unique values exchanged within a set, and upserts")
    func uniqueValues() throws {
        let one = try article("1", 1, ["code": "A"])
        let two = try article("2", 2, ["code": "B"])
        try library.saved(
            .update(one, ifVersion: nil, values: ["code": "B"]),
            .update(two, ifVersion: nil, values: ["code": "A"]))
        #expect(try value(one, "lowerCode") == .text("b"))
        #expect(try value(two, "lowerCode") == .text("a"))
        let category = Change.insert(
            .new("c", "Category"), values: ["name": "c", "articles": .objects([one])])
        let insert = Change.insert(
            .new("x", "Article"),
            values: ["code": "A", "wordCount": 9, "category": .object(.new("c", "Category"))])
        let set = ChangeSet([category, insert], onUniqueConflict: .upsert)
        let result = try library.writer.save([set])[0].get()
        #expect(result.inserted.map(\.permanentKey) == [1, 2])
        #expect(try value(result.inserted[0], "wordTotal") == .integer(10))
        #expect(try value(two, "categoryWords") == .integer(10))
    }

    @Test(
        "derived attributes follow a change that a merge policy has reduced",
        arguments: [
            (MergePolicy.storeWins, "stored", Int64(5)), (.callerWins, "given", 5),
            (.overwrite, "given", 1), (.rollback, "stored", 5),
        ])
    func mergePolicies(policy: MergePolicy, title: String, wordCount: Int64) throws {
        let category = try library.insert("Category", ["name": "c"])
        let article = try article("old", 1, ["category": .object(category)])
        try update(article, ["title": "stored", "wordCount": 5])
        let set = ChangeSet(
            [
                .update(
                    article, ifVersion: 1, values: ["title": "given"],
                    base: [
                        "title": "old", "wordCount": 1, "searchTitle": "old",
                        "categoryWords": 1,
                    ])
            ], mergePolicy: policy)
        let result = try library.writer.save([set])[0].get()
        #expect(result.merged == [0])
        #expect(try value(article, "searchTitle") == .text(title))
        #expect(try value(category, "wordTotal") == .integer(wordCount))
        try expectAgreement()
    }
}

@Suite("derived attributes of many objects")
struct LargeDerivationTests {
    /// Without the deferral to the end, a list of 100,000 objects would be summed 100,000 times.
    @Test("derived attributes are computed once for each object, whose list may be large")
    func largeLists() throws {
        let count = RandomTesting.iterations(3_000)
        let library = try Library(
            schema: SchemaFile.schema(
                parsing: """
                    {"version": "1.0.0", "entities": [
                    {"name": "Item",
                     "attributes": [
                      {"name": "size", "type": "int64"},
                      {"name": "boxName", "type": "string", "derived": "box.name"}],
                     "relationships": [
                      {"name": "box", "destination": "Box", "inverse": "items"},
                      {"name": "list", "destination": "List", "inverse": "items"}]},
                    {"name": "Box",
                     "attributes": [
                      {"name": "name", "type": "string"},
                      {"name": "total", "type": "int64", "derived": "items.@sum.size"}],
                     "relationships": [
                      {"name": "items", "destination": "Item", "toMany": true,
                       "inverse": "box"}]},
                    {"name": "List", "attributes": [],
                     "relationships": [
                      {"name": "items", "destination": "Item", "toMany": true,
                       "inverse": "list", "deleteRule": "cascade"}]}]}
                    """))
        let box = try library.insert("Box", ["name": "a"])
        let list = try library.insert("List")
        let links = ["box": Value.object(box), "list": .object(list)]
        let inserts = (0..<count).map { number in
            Change.insert(
                .new("\(number)", "Item"), values: links.merging(["size": 2]) { $1 })
        }
        let inserted = try library.writer.save([ChangeSet(inserts)])[0].get().inserted
        #expect(try library.value(box, "total") == .integer(Int64(2 * count)))
        let updates = inserted.map { Change.update($0, ifVersion: nil, values: ["size": 3]) }
        _ = try library.writer.save([ChangeSet(updates)])[0].get()
        #expect(try library.value(box, "total") == .integer(Int64(3 * count)))
        let renamed = try library.saved(.update(box, ifVersion: nil, values: ["name": "b"]))
        #expect(try library.value(inserted[count - 1], "boxName") == .text("b"))
        #expect(
            try library.history(try #require(renamed.transaction)).map(\.description)
                == ["updated Item 1-\(count) boxName", "updated Box 1 name"])
        try library.saved(.delete(list, ifVersion: nil))
        #expect(try library.value(box, "total") == .integer(0))
        #expect(try library.count("Item") == 0)
    }
}
