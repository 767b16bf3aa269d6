import CoreData
import Testing

@Suite("Stored and asynchronous requests, and fetched properties")
struct StoredRequestTests {
    @Test("an asynchronous request calls its closure on the queue of the context with the objects")
    func asynchronous() async throws {
        let context = try Library.filled()
        let request: NSFetchRequest<Article> = Article.fetchRequest()
        request.predicate = NSPredicate(format: "words > 100")
        let count = await withCheckedContinuation { continuation in
            let later = NSAsynchronousFetchRequest(fetchRequest: request) { result in
                let isDone = result.progress?.isFinished == true && result.operationError == nil
                continuation.resume(returning: isDone ? result.finalResult?.count : nil)
            }
            later.estimatedResultCount = 10
            _ = try? context.execute(later)
        }
        #expect(count == 4)
        request.predicate = NSPredicate(format: "nothing > 100")
        let failure = await withCheckedContinuation { continuation in
            let later = NSAsynchronousFetchRequest(fetchRequest: request) { result in
                let error = result.operationError as NSError?
                continuation.resume(returning: result.finalResult == nil ? error?.domain : nil)
            }
            _ = try? context.execute(later)
        }
        #expect(failure == NSCocoaErrorDomain)
    }

    @Test("an asynchronous request that was cancelled has no result")
    func cancelling() async throws {
        let context = try Library.filled()
        let request: NSFetchRequest<Article> = Article.fetchRequest()
        let isCancelled = await withCheckedContinuation { continuation in
            let later = NSAsynchronousFetchRequest(fetchRequest: request) { result in
                continuation.resume(
                    returning: result.finalResult == nil && result.operationError != nil)
            }
            context.performAndWait {
                let result = try? context.execute(later) as? NSPersistentStoreAsynchronousResult
                result?.cancel()
            }
        }
        #expect(isCancelled)
    }

    @Test("a model stores requests with variables")
    func templates() throws {
        let context = try Library.filled()
        let model = try #require(context.persistentStoreCoordinator?.managedObjectModel)
        let request = NSFetchRequest<any NSFetchRequestResult>(entityName: "Article")
        request.predicate = NSPredicate(format: "words >= $least AND category == $category")
        request.sortDescriptors = [NSSortDescriptor(key: "words", ascending: true)]
        model.setFetchRequestTemplate(request, forName: "long")
        request.fetchLimit = 1
        let category = try #require(try context.article("dora").category)
        let made = try #require(
            model.fetchRequestFromTemplate(
                withName: "long", substitutionVariables: ["least": 350, "category": category]))
        #expect(try context.fetch(made).compactMap { ($0 as? Article)?.title } == ["Emil"])
        let template = try #require(model.fetchRequestTemplate(forName: "long"))
        #expect(template.fetchLimit == 0 && model.fetchRequestTemplatesByName.count == 1)
        #expect(throws: NSError.self) { try context.fetch(template) }
        #expect(model.fetchRequestTemplate(forName: "nothing") == nil)
        #expect(
            model.fetchRequestFromTemplate(withName: "nothing", substitutionVariables: [:]) == nil)
        model.setFetchRequestTemplate(nil, forName: "long")
        #expect(model.fetchRequestTemplatesByName.isEmpty)
    }

    /// A model in which articles have those that are longer as a fetched property.
    private func context(_ format: String) throws -> NSManagedObjectContext {
        let model = Library.model()
        let longer = NSFetchedPropertyDescription()
        longer.name = "longer"
        longer.fetchRequest = NSFetchRequest(entityName: "Article")
        longer.fetchRequest?.predicate = NSPredicate(format: format)
        longer.fetchRequest?.sortDescriptors = [NSSortDescriptor(key: "words", ascending: true)]
        model.entitiesByName["Article"]?.properties.append(longer)
        let container = NSPersistentContainer(name: "Fetched", managedObjectModel: model)
        container.persistentStoreDescriptions[0].type = NSInMemoryStoreType
        var failure: (any Error)?
        container.loadPersistentStores { _, error in failure = error }
        if let failure { throw failure }
        let context = container.newBackgroundContext()
        try Library.fill(context)
        return context
    }

    @Test("a fetched property has the objects that its request finds for the object")
    func fetchedProperties() throws {
        let context = try context(
            "words > $FETCH_SOURCE.words AND category == $FETCH_SOURCE.category "
                + "AND SELF != $FETCH_SOURCE AND $FETCHED_PROPERTY == 'longer'")
        func longer(_ title: String) throws -> [String] {
            let found = try context.article(title).value(forKey: "longer") as? [Article]
            return try #require(found).map(\.title)
        }
        #expect(try longer("Ann") == ["bob", "Élan"])
        #expect(try longer("Élan").isEmpty)
        try context.article("dora").category = try context.article("Ann").category
        #expect(try longer("Ann") == ["bob", "Élan", "dora"])
        try context.article("Ann").setValue([], forKey: "longer")
        #expect(throws: NSError.self) { try context.save() }
        context.rollback()
        let free = NSManagedObject(
            entity: try #require(NSEntityDescription.entity(forEntityName: "Article", in: context)),
            insertInto: nil)
        #expect((free.value(forKey: "longer") as? NSArray)?.count == 0)
        let broken = try self.context("nothing == 5")
        #expect((try broken.article("Ann").value(forKey: "longer") as? NSArray)?.count == 0)
        #expect(throws: NSError.self) { try broken.save() }
    }

    @Test("a model file has stored requests and fetched properties")
    func modelFile() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        let file = folder.appending(path: "Stored.xcdatamodel")
        try FileManager.default.createDirectory(at: file, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try """
        <model type="com.apple.IDECoreDataModeler.DataModel">
        <entity name="Entry">
        <attribute name="count" attributeType="Integer 32" optional="YES"/>
        <fetchedProperty name="equal" optional="YES">
        <fetchRequest name="fetchedPropertyFetchRequest" entity="Entry"
            predicateString="count == $FETCH_SOURCE.count"/>
        </fetchedProperty>
        </entity>
        <fetchRequest name="Large" entity="Entry" predicateString="count &gt; $least"
            fetchLimit="2"/>
        </model>
        """.write(to: file.appending(path: "contents"), atomically: true, encoding: .utf8)
        let model = try #require(NSManagedObjectModel(contentsOf: file))
        let container = NSPersistentContainer(name: "Stored", managedObjectModel: model)
        container.persistentStoreDescriptions[0].type = NSInMemoryStoreType
        container.loadPersistentStores { _, error in #expect(error == nil) }
        let context = container.newBackgroundContext()
        let entries = (0..<6).map { index in
            let new = NSEntityDescription.insertNewObject(forEntityName: "Entry", into: context)
            new.setValue(index / 2, forKey: "count")
            return new
        }
        try context.save()
        #expect((entries[0].value(forKey: "equal") as? [NSManagedObject])?.count == 2)
        let request = try #require(
            model.fetchRequestFromTemplate(
                withName: "Large", substitutionVariables: ["least": 0]))
        #expect(try context.fetch(request).count == 2)
        request.fetchLimit = 0
        #expect(try context.fetch(request).count == 4)
    }
}
