import CoreData
import Testing

@Suite("Managed objects")
struct ObjectTests {
    @Test("values of each type are read as they were set, before and after a save")
    func values() throws {
        let container = try Library.container()
        let context = container.newBackgroundContext()
        let article = Article(context: context)
        let (uuid, date) = (UUID(), Date(timeIntervalSinceReferenceDate: 5))
        article.setValuesForKeys([
            "title": "first", "words": 3, "price": 1.5, "cost": Decimal(string: "12.34") ?? 0,
            "isDraft": true, "published": date, "uuid": uuid,
            "link": try #require(URL(string: "https://example.org/a")), "content": Data([1, 2]),
            "extra": ["list": [1, 2], "text": "x"], "cached": "only here",
        ])
        func check(_ article: NSManagedObject) {
            #expect(article.value(forKey: "title") as? String == "first")
            #expect(article.value(forKey: "words") as? Int == 3)
            #expect(article.value(forKey: "words") as? Int32 == 3)
            #expect(article.value(forKey: "price") as? Double == 1.5)
            #expect(article.value(forKey: "cost") as? Decimal == Decimal(string: "12.34"))
            #expect(article.value(forKey: "cost") is NSDecimalNumber)
            #expect(article.value(forKey: "isDraft") as? Bool == true)
            #expect(article.value(forKey: "published") as? Date == date)
            #expect(article.value(forKey: "uuid") as? UUID == uuid)
            #expect(
                (article.value(forKey: "link") as? URL)?.absoluteString == "https://example.org/a")
            #expect(article.value(forKey: "content") as? Data == Data([1, 2]))
            let extra = article.value(forKey: "extra") as? [String: Any]
            #expect(extra?["list"] as? [Int] == [1, 2])
        }
        check(article)
        #expect(article.value(forKey: "cached") as? String == "only here")
        try context.save()
        check(article)
        #expect(article.value(forKey: "cached") as? String == "only here")
        let other = container.newBackgroundContext()
        let same = try other.existingObject(with: article.objectID)
        check(same)
        #expect(same.value(forKey: "cached") == nil)
        article.setValue(NSNull(), forKey: "price")
        article.setValue(nil, forKey: "uuid")
        #expect(article.value(forKey: "price") == nil && article.value(forKey: "uuid") == nil)
        let values = article.dictionaryWithValues(forKeys: ["price", "words"])
        #expect(values["price"] is NSNull && values["words"] as? Int == 3)
    }

    @Test("both sides of relationships are set at once")
    func relationships() throws {
        let context = try Library.filled()
        let (ann, fox) = (try context.article("Ann"), try context.article("fox"))
        let news = try #require(ann.category)
        #expect(news.articles.count == 3)
        fox.category = news
        #expect(news.articles.contains(fox) && news.articles.count == 4)
        news.articles.remove(ann)
        #expect(ann.category == nil)
        news.setValue(NSSet(array: [ann]), forKey: "articles")
        #expect(fox.category == nil && news.articles == [ann])
        news.setValue([ann, fox], forKey: "articles")
        #expect(news.articles.count == 2)
        #expect(ann.value(forKeyPath: "category.name") as? String == "news")
        #expect(ann.value(forKeyPath: "category.articles.@count") as? Int == 2)
        #expect(news.objectIDs(forRelationshipNamed: "articles").count == 2)
        #expect(ann.objectIDs(forRelationshipNamed: "title").isEmpty)
        news.setValue(nil, forKey: "articles")
        #expect(news.articles.isEmpty)
        try context.save()
        context.reset()
        #expect(try context.titles(NSPredicate(format: "category.name == 'news'")) == [])
    }

    @Test("the state and the changes of an object are those since it was read or saved")
    func states() throws {
        let context = try Library.context()
        let article = Article(context: context)
        #expect(article.isInserted && article.hasChanges && !article.isUpdated)
        #expect(article.value(forKey: "words") as? Int == 0)
        #expect(article.objectID.isTemporaryID)
        article.title = "a"
        #expect(article.changedValues()["title"] as? String == "a")
        #expect(article.committedValues(forKeys: nil).isEmpty)
        #expect(context.insertedObjects == [article])
        try context.save()
        #expect(!article.hasChanges && !article.objectID.isTemporaryID)
        #expect(article.changedValues().isEmpty && !article.hasPersistentChangedValues)
        article.title = "b"
        article.setValue(nil, forKey: "price")
        #expect(article.isUpdated && context.updatedObjects == [article])
        #expect(article.changedValues().keys.sorted() == ["title"])
        #expect(article.hasPersistentChangedValues)
        #expect(article.committedValues(forKeys: ["title", "words"])["title"] as? String == "a")
        #expect(article.committedValues(forKeys: nil)["price"] is NSNull)
        article.title = "a"
        #expect(article.changedValues().isEmpty)
        context.refresh(article, mergeChanges: false)
        #expect(article.isFault && !article.hasChanges)
        #expect(article.title == "a" && !article.isFault)
        context.delete(article)
        #expect(article.isDeleted && context.deletedObjects == [article])
        try context.save()
        #expect(article.isDeleted && article.managedObjectContext == nil)
        #expect(article.title == "a")
    }

    @Test(
        "a value that cannot be set has no effect, and makes the next save an error with the name")
    func mistakes() throws {
        let context = try Library.filled()
        let ann = try context.article("Ann")
        let tag = try #require(ann.tags.first)
        let mistakes: [(Any?, String)] = [
            ("x", "titel"), ("many", "words"), (5, "title"), (3_000_000_000, "words"),
            ("x", "isDraft"), (Library.model(), "title"), (Double.nan, "price"), ("x", "category"),
            (tag, "category"), ([ann], "tags"), ("x", "tags"), (Date(), "extra"),
            ("x", "uuid"), ([tag, tag], "category"),
        ]
        for (value, name) in mistakes {
            let before = ann.value(forKey: name)
            ann.setValue(value, forKey: name)
            #expect("\(ann.value(forKey: name) ?? "")" == "\(before ?? "")", "\(name)")
            let error = #expect(throws: NSError.self, "\(name) \(String(describing: value))") {
                try context.save()
            }
            #expect(error?.localizedDescription.contains(name) == true)
            context.rollback()
        }
        let category = try #require(ann.category)
        category.setValue(7, forKey: "articleCount")
        #expect(throws: NSError.self) { try context.save() }
        context.rollback()
        #expect(category.value(forKey: "articleCount") as? Int == 3)
        try context.save()
        #expect(ann.value(forKey: "titel") == nil)
        #expect(ann.value(forKeyPath: "category.titel") == nil)
    }

    @Test("every call on a deleted object, and on one without a context, has no effect")
    func deleted() throws {
        let context = try Library.filled()
        let ann = try context.article("Ann")
        let entity = try #require(NSEntityDescription.entity(forEntityName: "Article", in: context))
        let free = Article(entity: entity, insertInto: nil)
        context.delete(ann)
        try context.save()
        for object in [ann, free] {
            object.setValue("x", forKey: "title")
            object.setValue(object, forKey: "category")
            object.setValue("x", forKey: "titel")
            object.setPrimitiveValue(1, forKey: "words")
            _ = object.primitiveValue(forKey: "category")
            _ = object.value(forKeyPath: "category.articles.@count")
            #expect(object.changedValues().isEmpty)
            #expect(object.committedValues(forKeys: nil).isEmpty)
            #expect(object.objectIDs(forRelationshipNamed: "tags").isEmpty)
            #expect(!object.isInserted && !object.isUpdated && !object.hasChanges)
            #expect(object.managedObjectContext == nil)
            #expect(!object.hasFault(forRelationshipNamed: "titel"))
            context.delete(object)
            context.refresh(object, mergeChanges: true)
            context.refresh(object, mergeChanges: false)
            #expect(!NSPredicate(format: "title == 'x'").evaluate(with: object))
            #expect(throws: NSError.self) {
                try NSPredicate(format: "title == 'x'").holds(for: object)
            }
        }
        #expect(throws: NSError.self) { try context.existingObject(with: ann.objectID) }
        try context.save()
        let later = Article(entity: entity, insertInto: nil)
        later.title = "x"
        context.insert(later)
        #expect(later.isInserted && later.title == "x")
        try context.save()
        #expect(try context.titles(NSPredicate(format: "title == 'x'")) == ["x"])
    }

    @Test("the hooks of an object are called at their time")
    func hooks() throws {
        let model = Library.model()
        model.entitiesByName["Tag"]?.managedObjectClass = Hooked.self
        let container = NSPersistentContainer(name: "Hooks", managedObjectModel: model)
        container.persistentStoreDescriptions[0].type = NSInMemoryStoreType
        container.loadPersistentStores { _, error in #expect(error == nil) }
        let context = container.newBackgroundContext()
        let tag = Hooked(context: context)
        #expect(tag.value(forKey: "name") as? String == "awake")
        #expect(tag.calls == ["awakeFromInsert"])
        try context.save()
        #expect(tag.calls.suffix(3) == ["willSave", "validateForInsert", "didSave"])
        tag.setValue("refuse", forKey: "name")
        #expect(throws: Hooked.Refusal.self) { try context.save() }
        context.rollback()
        context.delete(tag)
        try context.save()
        #expect(
            tag.calls.suffix(4) == [
                "prepareForDeletion", "willSave", "validateForDelete", "didSave",
            ])
        let second = Hooked(context: context)
        try context.save()
        let other = container.newBackgroundContext()
        let same = try other.existingObject(with: second.objectID) as? Hooked
        #expect(same?.calls == ["awakeFromFetch"])
    }
}

/// A class that records the calls of its hooks.
private final class Hooked: NSManagedObject {
    struct Refusal: Error {}

    var calls: [String] = []

    override func awakeFromInsert() {
        calls.append("awakeFromInsert")
        setValue("awake", forKey: "name")
    }
    override func awakeFromFetch() { calls.append("awakeFromFetch") }
    override func willSave() { calls.append("willSave") }
    override func didSave() { calls.append("didSave") }
    override func prepareForDeletion() { calls.append("prepareForDeletion") }
    override func validateForInsert() throws { calls.append("validateForInsert") }
    override func validateForUpdate() throws {
        if value(forKey: "name") as? String == "refuse" { throw Refusal() }
    }
    override func validateForDelete() throws { calls.append("validateForDelete") }
}
