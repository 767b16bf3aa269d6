import CoreData
import Testing

@Suite("Fetch requests")
struct FetchTests {
    @Test("objects, identifiers and numbers are the results by the type of the request")
    func types() throws {
        let context = try Library.filled()
        let objects = NSFetchRequest<NSManagedObject>(entityName: "Article")
        objects.predicate = NSPredicate(format: "words > 200")
        #expect(try context.fetch(objects).count == 3)
        #expect(try context.count(for: objects) == 3)
        let identifiers = NSFetchRequest<NSManagedObjectID>(entityName: "Article")
        identifiers.resultType = .managedObjectIDResultType
        identifiers.fetchLimit = 2
        identifiers.fetchOffset = 1
        identifiers.sortDescriptors = [NSSortDescriptor(key: "words", ascending: true)]
        let found = try context.fetch(identifiers)
        #expect(found.map { (context.object(with: $0) as? Article)?.title } == ["bob", "Élan"])
        let count = NSFetchRequest<NSNumber>(entityName: "Article")
        count.resultType = .countResultType
        #expect(try context.fetch(count) == [6])
        let wrong = NSFetchRequest<NSNumber>(entityName: "Article")
        #expect(throws: NSError.self) { try context.fetch(wrong) }
    }

    @Test("a request finds its entity by name, by description and by the class of its results")
    func entities() throws {
        let context = try Library.filled()
        #expect(try context.fetch(Article.fetchRequest() as NSFetchRequest<Article>).count == 6)
        let byDescription = NSFetchRequest<NSFetchRequestResult>()
        byDescription.entity = NSEntityDescription.entity(forEntityName: "Category", in: context)
        #expect(byDescription.entityName == "Category")
        #expect(try context.fetch(byDescription).count == 3)
        #expect(try context.fetch(NSFetchRequest<Category>()).count == 3)
        #expect(throws: NSError.self) { try context.fetch(NSFetchRequest<NSNumber>()) }
        let unknown = NSFetchRequest<NSFetchRequestResult>(entityName: "Nothing")
        for type in [
            .managedObjectResultType, .managedObjectIDResultType, .dictionaryResultType,
            .countResultType,
        ] as [NSFetchRequestResultType] {
            unknown.resultType = type
            let error = #expect(throws: NSError.self) { try context.fetch(unknown) }
            #expect(error?.localizedDescription.contains("Nothing") == true)
        }
        #expect(throws: NSError.self) { try context.count(for: unknown) }
    }

    @Test("pending changes and subentities count unless the request leaves them out")
    func pending() throws {
        let context = try Library.filled()
        try context.article("Ann").title = "Zoe"
        context.delete(try context.article("bob"))
        let review = try #require(
            NSEntityDescription.insertNewObject(forEntityName: "Review", into: context) as? Article)
        review.title = "new"
        let request = NSFetchRequest<Article>(entityName: "Article")
        request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
        #expect(
            try context.fetch(request).map(\.title) == [
                "Emil", "Zoe", "dora", "fox", "new", "Élan",
            ])
        request.includesSubentities = false
        #expect(try context.count(for: request) == 5)
        request.includesPendingChanges = false
        request.predicate = NSPredicate(format: "title == 'Ann'")
        #expect(try context.count(for: request) == 1)
        request.predicate = nil
        #expect(try context.count(for: request) == 6)
    }

    @Test("related objects and some properties are read with the objects")
    func properties() throws {
        let context = try Library.filled()
        context.reset()
        let request = NSFetchRequest<Article>(entityName: "Article")
        request.propertiesToFetch = ["title"]
        request.relationshipKeyPathsForPrefetching = []
        request.sortDescriptors = [NSSortDescriptor(key: "words", ascending: true)]
        #expect(try context.fetch(request).map(\.words) == [0, 100, 200, 300, 400, 500])
        request.propertiesToFetch = nil
        request.relationshipKeyPathsForPrefetching = ["category"]
        let articles = try context.fetch(request)
        #expect(context.registeredObjects.count >= 8)
        #expect(articles[0].category?.name == "news")
        request.relationshipKeyPathsForPrefetching = ["titel"]
        #expect(throws: NSError.self) { try context.fetch(request) }
        request.relationshipKeyPathsForPrefetching = nil
        request.propertiesToFetch = [NSExpressionDescription()]
        #expect(throws: NSError.self) { try context.fetch(request) }
    }
}
