import CoreData
import Testing

/// Values and names that an object does not have: the next save is an error with the name, and no
/// call ends the process.
@Suite("Values that an object cannot have")
struct BadValueTests {
    /// The message of the error of a save, without one of the context's later saves.
    private func refusal(_ context: NSManagedObjectContext) throws -> String {
        let error = #expect(throws: NSError.self) { try context.save() }
        #expect(error?.domain == NSCocoaErrorDomain)
        context.rollback()
        #expect(!context.hasChanges)
        try context.save()
        return error?.localizedDescription ?? ""
    }

    // Sendable unchecked: constants.
    struct Row: @unchecked Sendable, CustomTestStringConvertible {
        let key: String
        let value: Any

        init(_ key: String, _ value: Any) {
            self.key = key
            self.value = value
        }

        var testDescription: String { "\(key) = \(type(of: value))" }
    }

    private static var deep: [String: Any] {
        var value: [String: Any] = [:]
        for _ in 0..<2_000 { value = ["deeper": value] }
        return value
    }

    static let rows = [
        Row("title", 5), Row("title", ["a"]), Row("title", Date()), Row("words", "many"),
        Row("words", 2_147_483_648), Row("words", -2_147_483_649), Row("words", 1.5),
        Row("words", Double.infinity), Row("words", UInt64.max), Row("words", Date()),
        Row("price", "1.5"), Row("price", Double.nan), Row("cost", "x"), Row("cost", Date()),
        Row("isDraft", 2), Row("isDraft", "yes"), Row("published", "tomorrow"),
        Row("published", 5), Row("uuid", "x"), Row("uuid", Data()), Row("link", 5),
        Row("content", "text"), Row("content", [UInt8](repeating: 1, count: 3)),
        Row("extra", Date()), Row("extra", ["a": Date()]), Row("extra", ["a": Double.nan]),
        Row("extra", deep), Row("extra", [1: 2]), Row("extra", NSObject()),
        Row("category", "news"), Row("category", 5), Row("category", [1]),
        Row("category", Set(["a"])), Row("tags", "short"), Row("tags", [1, 2]),
        Row("tags", NSSet(array: ["a"])), Row("tags", NSObject()),
        Row("nothing", 1), Row("", 1), Row("title.x", 1), Row("category.name", "x"),
        Row("@count", 1), Row(String(repeating: "x", count: 100_000), 1), Row("\u{0}", 1),
    ]

    @Test(
        "a wrong value makes the next save an error with the name of the property", arguments: rows)
    func values(_ row: Row) throws {
        let context = try Library.filled()
        let article = try context.article("Ann")
        article.setValue(row.value, forKey: row.key)
        let text = try refusal(context)
        #expect(
            text.contains("`\(row.key.prefix(60))")
                || text.contains(".\(row.key):") && text.utf8.count < 2_000)
        #expect(article.title == "Ann" && article.words == 0)
        // A new object refuses it too, also among many keys.
        let new = Article(context: context)
        new.setValuesForKeys([row.key: row.value])
        #expect(try !refusal(context).isEmpty)
    }

    @Test("objects of another entity, another context and another store are errors or links")
    func objects() throws {
        let context = try Library.filled()
        let article = try context.article("Ann")
        let tag = try #require(article.tags.first)
        article.setValue(tag, forKey: "category")
        #expect(try refusal(context).contains("category"))
        article.setValue(NSSet(object: article), forKey: "tags")
        #expect(try refusal(context).contains("tags"))
        article.setValue(NSSet(array: [tag, "x"]), forKey: "tags")
        #expect(try refusal(context).contains("tags"))
        let foreign = try Library.filled().article("Ann").category
        article.setValue(foreign, forKey: "category")
        #expect(try refusal(context).contains("category"))
        let unsaved = try Library.context()
        let category = Category(context: unsaved)
        category.name = "x"
        article.category = category
        #expect(try refusal(context).contains("category"))
        // A saved object of the same store is taken from any context.
        let other = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        other.persistentStoreCoordinator = context.persistentStoreCoordinator
        let sport = try #require(try other.article("dora").category)
        article.category = sport
        try context.save()
        #expect(article.category?.name == "sport")
    }

    @Test("a derived attribute and an unknown relationship cannot be set")
    func derived() throws {
        let context = try Library.filled()
        let category = try #require(try context.article("Ann").category)
        category.setValue(5, forKey: "articleCount")
        #expect(try refusal(context).contains("articleCount"))
        #expect(category.value(forKey: "articleCount") as? Int == 3)
    }

    @Test("reading by an unknown key has no value")
    func reading() throws {
        let context = try Library.filled()
        let article = try context.article("Ann")
        for key in ["", "nothing", "title.x", "@count", "category.", ".category", "a b", "\u{0}"] {
            #expect(article.value(forKey: key) == nil)
            #expect(article.value(forKeyPath: key) == nil)
            #expect(article.primitiveValue(forKey: key) == nil)
            #expect(article.objectIDs(forRelationshipNamed: key).isEmpty)
            #expect(!article.hasFault(forRelationshipNamed: key))
            #expect(article.dictionaryWithValues(forKeys: [key])[key] is NSNull)
            #expect(article.committedValues(forKeys: [key]).isEmpty)
        }
        #expect(article.value(forKeyPath: "category.nothing") == nil)
        #expect(article.value(forKeyPath: "tags.name") == nil)
        #expect(article.value(forKeyPath: "category.articles.@sum.words") as? Int == 300)
        #expect(article.objectIDs(forRelationshipNamed: "title").isEmpty)
        #expect(!context.hasChanges)
    }

    @Test("a context that several threads use and save keeps every object, and no call traps")
    func threads() throws {
        let context = try Library.context()
        let shared = context
        DispatchQueue.concurrentPerform(iterations: 4) { thread in
            for number in 0..<10 {
                let article = Article(context: shared)
                article.title = "\(thread) \(number)"
                _ = try? shared.titles(NSPredicate(format: "words == 0"))
                try? shared.save()
            }
        }
        try context.save()
        #expect(Set(try context.titles(nil)).count == 40)
    }

    @Test("an object in no context, a deleted one and one of an unknown entity have no effect")
    func states() throws {
        let context = try Library.filled()
        let deleted = try context.article("bob")
        context.delete(deleted)
        try context.save()
        let unknown = NSEntityDescription.insertNewObject(forEntityName: "Nothing", into: context)
        #expect(try refusal(context).contains("Nothing"))
        let free = Article(entity: Article.entity(), insertInto: nil)
        for object in [deleted, unknown, free] {
            object.setValue("x", forKey: "title")
            object.setValue(5, forKey: "nothing")
            object.setValue(object, forKey: "category")
            _ = object.value(forKey: "category")
            _ = object.value(forKeyPath: "category.name")
            _ = object.changedValues()
            _ = object.committedValues(forKeys: nil)
            _ = object.objectID.uriRepresentation()
            _ = object.description
            #expect(!NSPredicate(format: "title == 'x'").evaluate(with: object))
            #expect(throws: NSError.self) {
                try NSPredicate(format: "title == 'x'").holds(for: object)
            }
            #expect(
                NSExpression(forKeyPath: "title").expressionValue(with: object, context: nil) == nil
            )
            context.delete(object)
            context.refresh(object, mergeChanges: false)
            #expect(throws: NSError.self) { try context.existingObject(with: object.objectID) }
        }
        context.rollback()
        #expect(try context.titles(nil).count == 5)
        let matching = NSPredicate(format: "category == %@ OR tags CONTAINS %@", deleted, deleted)
        #expect((try? context.titles(matching))?.isEmpty ?? true)
    }
}
