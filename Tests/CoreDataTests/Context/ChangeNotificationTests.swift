import CoreData
import Testing

@Suite("The notification of changed objects")
struct ChangeNotificationTests {
    private typealias Objects = Set<NSManagedObject>

    @Test("a context announces its changes once, when they are processed and before they are saved")
    func changes() throws {
        let context = try Library.filled()
        let box = NotificationBox(.NSManagedObjectContextObjectsDidChange, context)
        let (ann, fox) = (try context.article("Ann"), try context.article("fox"))
        ann.title = "Anna"
        ann.words = 7
        let new = Article(context: context)
        new.title = "new"
        context.delete(fox)
        let forgotten = Article(context: context)
        context.delete(forgotten)
        #expect(box.all.isEmpty)
        context.processPendingChanges()
        let info = try #require(box.all.last?.userInfo)
        #expect(info[NSInsertedObjectsKey] as? Objects == [new])
        #expect((info[NSUpdatedObjectsKey] as? Objects)?.contains(ann) == true)
        #expect(info[NSDeletedObjectsKey] as? Objects == [fox])
        #expect(box.all.count == 1 && context.hasChanges)
        context.processPendingChanges()
        try context.save()
        #expect(box.all.count == 1)
        #expect(
            NSManagedObjectContext.didChangeObjectsNotification
                == .NSManagedObjectContextObjectsDidChange)
    }

    @Test(
        "a rollback announces objects that have their former values, and a reset that all are gone")
    func discarding() throws {
        let context = try Library.filled()
        let (ann, fox) = (try context.article("Ann"), try context.article("fox"))
        let box = NotificationBox(.NSManagedObjectContextObjectsDidChange, context)
        ann.title = "Anna"
        context.delete(fox)
        let new = Article(context: context)
        context.processPendingChanges()
        context.rollback()
        let info = try #require(box.all.last?.userInfo)
        #expect((info[NSRefreshedObjectsKey] as? Objects)?.contains(ann) == true)
        #expect(info[NSInsertedObjectsKey] as? Objects == [fox])
        #expect(info[NSDeletedObjectsKey] as? Objects == [new])
        context.reset()
        #expect(box.all.last?.userInfo?[NSInvalidatedAllObjectsKey] as? Bool == true)
    }

    @Test("a context that merges what another one has inserted announces these objects as inserted")
    func mergedInserts() throws {
        let context = try Library.filled()
        let coordinator = try #require(context.persistentStoreCoordinator)
        func another() -> NSManagedObjectContext {
            let new = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
            new.persistentStoreCoordinator = coordinator
            return new
        }
        let (following, asked, child) = (another(), another(), another())
        following.automaticallyMergesChangesFromParent = true
        child.parent = following
        child.automaticallyMergesChangesFromParent = true
        let others = [following, asked, child]
        for other in others { _ = try other.article("Ann") }
        let boxes = others.map { NotificationBox(.NSManagedObjectContextObjectsDidChange, $0) }
        let saved = NotificationBox(.NSManagedObjectContextDidSave, context)
        let new = Article(context: context)
        new.title = "new"
        let forgotten = Article(context: context)
        try context.save()
        let forgottenID = forgotten.objectID
        context.delete(forgotten)
        try context.save()
        for notification in saved.all {
            asked.performAndWait { asked.mergeChanges(fromContextDidSave: notification) }
        }
        // An object that was inserted and is deleted by now is not registered.
        #expect(asked.registeredObject(for: forgottenID) == nil)
        for other in [following, child] { other.performAndWait { other.processPendingChanges() } }
        for (other, box) in zip(others, boxes) {
            let inserted = box.all.flatMap { $0.userInfo?[NSInsertedObjectsKey] as? Objects ?? [] }
            let titles = inserted.filter { !$0.isDeleted }.map { $0.value(forKey: "title") }
            #expect(titles as? [String] == ["new"])
            #expect(inserted.allSatisfy { $0.managedObjectContext === other || $0.isDeleted })
            #expect(!other.hasChanges && other.insertedObjects.isEmpty)
        }
        // The context has announced its own insert before the save.
        let box = NotificationBox(.NSManagedObjectContextObjectsDidChange, context)
        context.automaticallyMergesChangesFromParent = true
        context.processPendingChanges()
        #expect(box.all.allSatisfy { $0.userInfo?[NSInsertedObjectsKey] == nil })
    }

    @Test("changes by identifiers and by URIs are merged into contexts")
    func remoteChanges() throws {
        let context = try Library.filled()
        let other = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        other.persistentStoreCoordinator = context.persistentStoreCoordinator
        let ann = try other.article("Ann")
        let batch = NSBatchUpdateRequest(entityName: "Article")
        batch.predicate = NSPredicate(format: "title == 'Ann'")
        batch.propertiesToUpdate = ["words": 7]
        _ = try context.execute(batch)
        let new = Article(context: context)
        new.title = "new"
        try context.save()
        let box = NotificationBox(.NSManagedObjectContextObjectsDidChange, other)
        other.performAndWait {
            NSManagedObjectContext.mergeChanges(
                fromRemoteContextSave: [
                    NSUpdatedObjectsKey: [ann.objectID.uriRepresentation()],
                    NSInsertedObjectsKey: [new.objectID, "text"] as [Any],
                    NSDeletedObjectsKey: [URL(filePath: "/none")], "nothing": 5,
                ], into: [other])
        }
        #expect(ann.words == 7)
        let inserted = box.all.last?.userInfo?[NSInsertedObjectsKey] as? Objects ?? []
        #expect(inserted.map { $0.value(forKey: "title") } as? [String] == ["new"])
    }

    @Test("an observer that changes objects causes another notification, and no endless loop")
    func observers() throws {
        let context = try Library.filled()
        let ann = try context.article("Ann")
        let counter = Counter()
        let token = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextObjectsDidChange, object: context, queue: nil
        ) { _ in
            counter.count += 1
            (try? context.article("Ann"))?.words += 1
        }
        defer { NotificationCenter.default.removeObserver(token) }
        context.performAndWait {
            ann.words = 1
            context.processPendingChanges()
        }
        #expect(counter.count > 1 && counter.count < 100)
    }

    @Test("several threads that use a controller and its context do not end the process")
    func threads() async throws {
        let context = try Library.filled()
        let controller = NSFetchedResultsController(
            context, sections: "isDraft", ["isDraft", "words"])
        try controller.performFetch()
        // A fetch of another thread is not announced, so that a delegate cannot follow the result.
        let counter = Counter()
        controller.delegate = counter
        let shared = SharedController(controller: controller)
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                for number in 0..<40 {
                    await context.perform {
                        let new = Article(context: context)
                        new.words = number
                        if number % 3 == 0 { context.delete(new) }
                        if number % 5 == 0 { try? context.save() }
                    }
                }
            }
            for _ in 0..<3 {
                group.addTask {
                    for number in 0..<60 {
                        let objects = shared.controller.fetchedObjects ?? []
                        _ = shared.controller.sectionIndexTitles
                        guard let last = objects.last else { continue }
                        _ = shared.controller.indexPath(forObject: last)
                        _ = shared.controller.object(at: [0, 0]).title
                        if number % 20 == 0 { try? shared.controller.performFetch() }
                    }
                }
            }
        }
        #expect(counter.count > 0)
        #expect(controller.fetchedObjects?.count == 6 + 40 - 14)
    }
}

/// Sendable unchecked: it is called on the thread of the change, and read afterwards.
private final class Counter: NSFetchedResultsControllerDelegate, @unchecked Sendable {
    var count = 0

    func controllerDidChangeContent(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>
    ) { count += 1 }
}

/// Sendable unchecked: the test checks that the controller itself protects its state.
private struct SharedController: @unchecked Sendable {
    let controller: NSFetchedResultsController<Article>
}
