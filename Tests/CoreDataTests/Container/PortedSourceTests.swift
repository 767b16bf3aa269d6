import CoreData
import Testing

/// Calls that programs for Apple's systems have, in their forms.
@Suite("Calls of ported programs")
struct PortedSourceTests {
    @Test("a value is set at the end of a path of relationships to one object")
    func valuesAtKeyPaths() throws {
        let context = try Library.filled()
        let (ann, fox) = (try context.article("Ann"), try context.article("fox"))
        ann.setValue("daily", forKeyPath: "category.name")
        ann.setValue(7, forKeyPath: "words")
        #expect(ann.category?.name == "daily" && ann.words == 7)
        // Without an object nothing is set.
        fox.setValue("daily", forKeyPath: "category.name")
        try context.save()
        for path in ["tags.name", "title.name", "kategory.name", "category.nam", ""] {
            ann.setValue("x", forKeyPath: path)
            #expect(throws: NSError.self, "\(path)") { try context.save() }
            context.rollback()
        }
        #expect(ann.category?.name == "daily")
    }

    @Test("a key path with too many steps has no value, and is not set")
    func longKeyPaths() throws {
        let context = try Library.filled()
        let ann = try context.article("Ann")
        let path = Array(repeating: "category", count: 100_000).joined(separator: ".")
        #expect(ann.value(forKeyPath: path) == nil)
        ann.setValue(1, forKeyPath: path)
        #expect(throws: NSError.self) { try context.save() }
    }

    @Test("a merge policy is made from its type")
    func mergePolicies() throws {
        let policy = NSMergePolicy(merge: .mergeByPropertyObjectTrumpMergePolicyType)
        #expect(policy.mergeType == NSMergePolicy.mergeByPropertyObjectTrump.mergeType)
        let context = try Library.filled()
        context.mergePolicy = policy
        // A new object updates the one that has its unique value.
        let again = Category(context: context)
        again.name = "news"
        try context.save()
        #expect(try context.count(for: NSFetchRequest<Category>(entityName: "Category")) == 3)
    }

    @Test("stores and contexts are made by the newer names of their types")
    func newerNames() throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Library.model())
        let store = try coordinator.addPersistentStore(
            type: .inMemory, at: URL(filePath: "/dev/null"))
        #expect(store.type == NSInMemoryStoreType)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        #expect(context.concurrencyType == .privateQueueConcurrencyType)
        try Library.fill(context)
        let request = NSBatchDeleteRequest(fetchRequest: NSFetchRequest(entityName: "Tag"))
        request.resultType = .resultTypeCount
        let result = try coordinator.execute(request, with: context) as? NSBatchDeleteResult
        #expect(result?.result as? Int == 1)
    }

    @Test("the objects of a notification are found by the newer names of the keys")
    func notificationKeys() throws {
        let context = try Library.filled()
        let box = NotificationBox(NSManagedObjectContext.didSaveObjectsNotification, context)
        let new = Article(context: context)
        try context.save()
        let key = NSManagedObjectContext.NotificationKey.insertedObjects.rawValue
        #expect(box.all.last?.userInfo?[key] as? Set<NSManagedObject> == [new])
    }

    @Test("a copy of a request is another request with the same settings")
    func copies() throws {
        let context = try Library.filled()
        let request: NSFetchRequest<Article> = Article.fetchRequest()
        request.predicate = NSPredicate(format: "words > 300")
        let copy = try #require(request.copy() as? NSFetchRequest<Article>)
        copy.fetchLimit = 1
        #expect(request.fetchLimit == 0 && copy.predicate == request.predicate)
        #expect(try context.fetch(request).count == 2 && context.fetch(copy).count == 1)
    }

    private final class Noted: NSManagedObject {
        var calls: [String] = []
        override func willTurnIntoFault() { calls.append("will") }
        override func didTurnIntoFault() { calls.append("did") }
    }

    @Test("an object is called before and after its values are forgotten")
    func faults() throws {
        let model = NSManagedObjectModel()
        let entity = NSEntityDescription()
        entity.name = "Noted"
        entity.managedObjectClass = Noted.self
        entity.properties = [Library.attribute("name", .stringAttributeType)]
        model.entities = [entity]
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(
            ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        let noted = Noted(context: context)
        noted.setValue("a", forKey: "name")
        try context.save()
        context.refresh(noted, mergeChanges: false)
        #expect(noted.calls == ["will", "did"] && noted.isFault)
        context.refresh(noted, mergeChanges: false)
        #expect(noted.calls.count == 2)
        #expect(noted.value(forKey: "name") as? String == "a")
    }
}
