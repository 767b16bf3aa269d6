import CoreData
import Testing

@Suite("Relationships as mutable sets")
struct RelatedSetTests {
    @Test("a mutable set is the relationship")
    func sets() throws {
        let context = try Library.filled()
        let ann = try context.article("Ann")
        let tags = ann.mutableSetValue(forKey: "tags")
        #expect(tags.count == 1)
        let long = NSEntityDescription.insertNewObject(forEntityName: "Tag", into: context)
        long.setValue("long", forKey: "name")
        tags.add(long)
        #expect(ann.tags.count == 2 && tags.contains(long) && long.hasChanges)
        let short = try #require(ann.tags.first { $0 != long })
        tags.remove(short)
        #expect(ann.tags == [long] && tags.allObjects.count == 1)
        ann.tags = [long, short]
        #expect(tags.count == 2 && tags.contains(short))
        tags.minus([short])
        tags.union([short, long])
        #expect(Set(tags.compactMap { $0 as? NSManagedObject }) == [short, long])
        tags.intersect([long])
        #expect(ann.tags == [long])
        tags.removeAllObjects()
        #expect(ann.tags.isEmpty)
        let news = try #require(ann.category)
        let fox = try context.article("fox")
        news.mutableSetValue(forKey: "articles").add(fox)
        #expect(fox.category === news)
        news.mutableSetValue(forKey: "articles").remove(ann)
        #expect(ann.category == nil)
        try context.save()
        #expect(try context.titles(NSPredicate(format: "category.name == 'news'")).contains("fox"))
    }

    @Test("a mutable set of what is no relationship has no objects, and its changes are errors")
    func mistakes() throws {
        let context = try Library.filled()
        let ann = try context.article("Ann")
        for key in ["nothing", "title", "category"] {
            let set = ann.mutableSetValue(forKey: key)
            #expect(set.count == 0 || key == "category")
            set.remove(ann)
            #expect(!context.hasChanges)
            set.add(ann)
            #expect(throws: NSError.self, "\(key)") { try context.save() }
            context.rollback()
        }
        let tags = ann.mutableSetValue(forKey: "tags")
        tags.add("text")
        #expect(throws: NSError.self) { try context.save() }
        context.rollback()
        tags.add(ann)
        #expect(throws: NSError.self) { try context.save() }
        context.rollback()
        #expect(tags.count == 1)
        context.delete(ann)
        try context.save()
        tags.add(ann)
        tags.remove(ann)
        #expect(!tags.contains("text"))
    }

    @Test("a mutable ordered set changes the order of the relationship")
    func orderedSets() throws {
        let model = Library.model()
        model.entitiesByName["Category"]?.relationshipsByName["articles"]?.isOrdered = true
        let container = NSPersistentContainer(name: "Ordered", managedObjectModel: model)
        container.persistentStoreDescriptions[0].type = NSInMemoryStoreType
        container.loadPersistentStores { _, error in #expect(error == nil) }
        let context = container.newBackgroundContext()
        try Library.fill(context)
        let news = try #require(try context.article("Ann").category)
        let (fox, dora) = (try context.article("fox"), try context.article("dora"))
        let list = news.mutableOrderedSetValue(forKey: "articles")
        func titles() -> [String] {
            let set = news.value(forKey: "articles") as? NSOrderedSet
            return (set?.array ?? []).compactMap { ($0 as? Article)?.title }
        }
        #expect(list.count == 3)
        list.insert(fox, at: 0)
        #expect(titles() == ["fox", "Ann", "bob", "Élan"])
        list.add(dora)
        list.exchangeObject(at: 0, withObjectAt: 4)
        #expect(titles() == ["dora", "Ann", "bob", "Élan", "fox"])
        list.removeObject(at: 1)
        list.moveObjects(at: [0, 2], to: 1)
        #expect(titles() == ["bob", "dora", "Élan", "fox"])
        list.replaceObject(at: 0, with: try context.article("Ann"))
        list.removeObjects(at: [1, 9])
        #expect(titles() == ["Ann", "Élan", "fox"])
        list.remove(fox)
        list.insert([fox, dora], at: [0, 99])
        #expect(titles() == ["fox", "Ann", "Élan", "dora"])
        #expect(list.index(of: dora) == 3 && list.object(at: 0) as? Article === fox)
        // Indexes that do not exist have no effect.
        list.removeObject(at: 9)
        list.replaceObject(at: -1, with: fox)
        list.exchangeObject(at: 0, withObjectAt: 9)
        #expect(titles().count == 4 && list.object(at: 9) is NSNull)
        try context.save()
        news.setValue(NSOrderedSet(array: [dora, fox]), forKey: "articles")
        #expect(list.count == 2 && list.object(at: 0) as? Article === dora)
        list.removeAllObjects()
        #expect(titles().isEmpty)
        #expect(news.mutableOrderedSetValue(forKey: "nothing").count == 0)
    }

    @Test("a save keeps the order of lists, in whichever order their objects were inserted")
    func insertionOrder() throws {
        let model = Library.model()
        let entities = model.entitiesByName
        entities["Category"]?.relationshipsByName["articles"]?.isOrdered = true
        entities["Article"]?.relationshipsByName["tags"]?.isOrdered = true
        entities["Tag"]?.relationshipsByName["articles"]?.isOrdered = true
        let container = NSPersistentContainer(name: "Ordered", managedObjectModel: model)
        container.persistentStoreDescriptions[0].type = NSInMemoryStoreType
        container.loadPersistentStores { _, error in #expect(error == nil) }
        let context = container.newBackgroundContext()
        let articles = ["a", "b", "c", "d"].map { title in
            let article = Article(context: context)
            article.title = title
            return article
        }
        let category = Category(context: context)
        category.name = "news"
        let tags = ["x", "y", "z"].map { name in
            let tag = NSEntityDescription.insertNewObject(forEntityName: "Tag", into: context)
            tag.setValue(name, forKey: "name")
            return tag
        }
        // The first article waits for the last of its tags, the other ones do not.
        articles[0].setValue(NSOrderedSet(array: [tags[2], tags[0]]), forKey: "tags")
        articles[1].setValue(NSOrderedSet(array: [tags[0], tags[1]]), forKey: "tags")
        articles[3].setValue(NSOrderedSet(array: [tags[0]]), forKey: "tags")
        for index in [3, 1, 0, 2] { articles[index].category = category }
        func lists(_ context: NSManagedObjectContext) -> [[String]] {
            ([category] + tags).map { owner in
                let list = context.object(with: owner.objectID).value(forKey: "articles")
                return ((list as? NSOrderedSet)?.array ?? []).compactMap { ($0 as? Article)?.title }
            }
        }
        let before = lists(context)
        #expect(before == [["d", "b", "a", "c"], ["a", "b", "d"], ["b"], ["a"]])
        try context.save()
        #expect(lists(context) == before)
        #expect(lists(container.newBackgroundContext()) == before)
        let first = container.newBackgroundContext().object(with: articles[0].objectID)
        let names = (first.value(forKey: "tags") as? NSOrderedSet)?.array.compactMap {
            ($0 as? NSManagedObject)?.value(forKey: "name") as? String
        }
        #expect(names == ["z", "x"])
    }
}
