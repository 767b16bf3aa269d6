import CoreData
import Testing

@Suite("Managed object contexts")
struct ContextTests {
    @Test("objects are found by their identifiers, and one that does not exist is an error")
    func identifiers() throws {
        let context = try Library.filled()
        let ann = try context.article("Ann")
        #expect(context.object(with: ann.objectID) === ann)
        #expect(context.registeredObject(for: ann.objectID) === ann)
        #expect(try context.existingObject(with: ann.objectID) === ann)
        #expect(ann.objectID == ann.objectID && ann.objectID.entity.name == "Article")
        let other = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        other.persistentStoreCoordinator = context.persistentStoreCoordinator
        #expect(other.registeredObject(for: ann.objectID) == nil)
        let unread = other.object(with: ann.objectID)
        #expect(unread.isFault && unread.objectID == ann.objectID)
        #expect(unread.value(forKey: "title") as? String == "Ann" && !unread.isFault)
        let foreign = try Library.filled()
        let others = try foreign.article("Ann")
        let error = #expect(throws: NSError.self) {
            try context.existingObject(with: others.objectID)
        }
        #expect(error?.code == NSManagedObjectReferentialIntegrityError)
        let strange = context.object(with: others.objectID)
        #expect(strange.value(forKey: "title") == nil)
        #expect(context.registeredObject(for: others.objectID) == nil)
        let temporary = Article(context: foreign).objectID
        #expect(context.object(with: temporary).isDeleted)
        #expect(throws: NSError.self) { try context.existingObject(with: temporary) }
    }

    @Test("a rollback and a reset discard all changes")
    func discarding() throws {
        let context = try Library.filled()
        let ann = try context.article("Ann")
        ann.title = "Zoe"
        let new = Article(context: context)
        context.delete(try context.article("fox"))
        context.rollback()
        #expect(!context.hasChanges && ann.title == "Ann" && new.managedObjectContext == nil)
        #expect(try context.titles(nil).count == 6)
        ann.title = "Zoe"
        context.reset()
        #expect(!context.hasChanges && ann.managedObjectContext == nil)
        #expect(context.registeredObjects.isEmpty)
        ann.title = "nobody"
        #expect(try context.titles(nil)[0] == "Ann")
        #expect(try context.article("Ann") !== ann)
    }

    @Test("an object is refreshed with its changes or without them")
    func refreshing() throws {
        let context = try Library.filled()
        let (ann, fox) = (try context.article("Ann"), try context.article("fox"))
        let other = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        other.persistentStoreCoordinator = context.persistentStoreCoordinator
        let same = try #require(try other.existingObject(with: ann.objectID) as? Article)
        same.words = 9
        same.title = "other"
        try other.save()
        ann.title = "own"
        fox.category = ann.category
        #expect(ann.words == 0)
        context.refresh(ann, mergeChanges: true)
        #expect(ann.words == 9 && ann.title == "own" && ann.isUpdated)
        context.refresh(ann, mergeChanges: false)
        #expect(ann.title == "other" && !ann.hasChanges)
        let news = try #require(fox.category)
        context.refresh(fox, mergeChanges: false)
        #expect(fox.category == nil && !news.articles.contains(fox))
        try context.save()
        #expect(try context.titles(NSPredicate(format: "category == nil")) == ["fox"])
        same.words = 10
        try other.save()
        context.refreshAllObjects()
        #expect(ann.words == 10)
    }

    @Test("a save of another context is merged when its notification is")
    func merging() throws {
        let context = try Library.filled()
        let ann = try context.article("Ann")
        let other = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        other.persistentStoreCoordinator = context.persistentStoreCoordinator
        let notifications = Notifications()
        let names: [Notification.Name] = [
            .NSManagedObjectContextWillSave, .NSManagedObjectContextDidSave,
        ]
        let tokens = names.map { name in
            NotificationCenter.default.addObserver(forName: name, object: other, queue: nil) {
                notifications.all.append($0)
            }
        }
        defer { for token in tokens { NotificationCenter.default.removeObserver(token) } }
        let same = try #require(try other.existingObject(with: ann.objectID) as? Article)
        same.words = 9
        other.delete(try other.article("fox"))
        _ = Article(context: other)
        try other.save()
        #expect(notifications.all.map(\.name) == names)
        let info = notifications.all[1].userInfo
        #expect((info?[NSInsertedObjectsKey] as? Set<NSManagedObject>)?.count == 1)
        #expect(info?[NSUpdatedObjectsKey] as? Set<NSManagedObject> == [same])
        #expect((info?[NSDeletedObjectsKey] as? Set<NSManagedObject>)?.count == 1)
        #expect(ann.words == 0)
        context.mergeChanges(fromContextDidSave: notifications.all[1])
        #expect(ann.words == 9)
        #expect(NSManagedObjectContext.didSaveObjectsNotification == names[1])
        #expect(NSManagedObjectContext.willSaveObjectsNotification == names[0])
    }

    @Test("a context that follows others reads what they have saved")
    func following() throws {
        let context = try Library.filled()
        let ann = try context.article("Ann")
        context.automaticallyMergesChangesFromParent = true
        let other = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        other.persistentStoreCoordinator = context.persistentStoreCoordinator
        let same = try #require(try other.existingObject(with: ann.objectID) as? Article)
        same.words = 9
        try other.save()
        context.performAndWait {}
        #expect(ann.words == 9)
        context.automaticallyMergesChangesFromParent = false
        same.words = 10
        try other.save()
        context.performAndWait {}
        #expect(ann.words == 9)
    }

    @Test("the policy of a context decides what a save does about changes of others")
    func policies() throws {
        func conflict(
            _ policy: NSMergePolicy
        ) throws -> (code: Int?, words: Int, title: String, price: Double?) {
            let context = try Library.filled()
            let ann = try context.article("Ann")
            let other = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
            other.persistentStoreCoordinator = context.persistentStoreCoordinator
            let same = try #require(try other.existingObject(with: ann.objectID) as? Article)
            same.words = 9
            try other.save()
            ann.words = 5
            ann.setValue(8.5, forKey: "price")
            context.mergePolicy = policy
            var code: Int?
            do { try context.save() } catch { code = (error as NSError).code }
            other.refresh(same, mergeChanges: false)
            return (code, same.words, same.title, same.value(forKey: "price") as? Double)
        }
        #expect(try conflict(.error) == (NSManagedObjectMergeError, 9, "Ann", 0.5))
        #expect(try conflict(NSMergeByPropertyStoreTrumpMergePolicy) == (nil, 9, "Ann", 8.5))
        #expect(try conflict(NSMergeByPropertyObjectTrumpMergePolicy) == (nil, 5, "Ann", 8.5))
        #expect(try conflict(NSOverwriteMergePolicy) == (nil, 5, "Ann", 8.5))
        #expect(try conflict(NSRollbackMergePolicy) == (nil, 9, "Ann", 0.5))
        #expect(NSErrorMergePolicy === NSMergePolicy.error)
    }

    @Test("an insert with the unique values of an object is an error, or updates it by the policy")
    func constraints() throws {
        let context = try Library.filled()
        let second = Category(context: context)
        second.name = "news"
        let error = #expect(throws: NSError.self) { try context.save() }
        #expect(error?.code == NSManagedObjectConstraintMergeError)
        #expect(error?.userInfo[NSValidationKeyErrorKey] as? String == "name")
        context.mergePolicy = .mergeByPropertyObjectTrump
        try context.save()
        #expect(try context.count(for: NSFetchRequest<Category>(entityName: "Category")) == 3)
    }

    @Test("several broken rules are several errors with the objects and the names")
    func validation() throws {
        let context = try Library.context()
        let (first, second) = (Article(context: context), Category(context: context))
        first.setValue(nil, forKey: "title")
        let error = #expect(throws: NSError.self) { try context.save() }
        #expect(error?.code == NSValidationMultipleErrorsError)
        let details = try #require(error?.userInfo[NSDetailedErrorsKey] as? [NSError])
        #expect(details.map(\.code) == [1_570, 1_570])
        #expect(
            Set(details.compactMap { $0.userInfo[NSValidationKeyErrorKey] as? String })
                == ["title", "name"])
        #expect(
            Set(details.compactMap { $0.userInfo[NSValidationObjectErrorKey] as? NSManagedObject })
                == [first, second])
        context.delete(second)
        let single = #expect(throws: NSError.self) { try context.save() }
        #expect(single?.code == NSValidationMissingMandatoryPropertyError)
        #expect(single?.localizedDescription.contains("title") == true)
    }

    @Test("an entity that the model does not have is an error at the save")
    func unknownEntity() throws {
        let context = try Library.context()
        let object = NSEntityDescription.insertNewObject(forEntityName: "Nothing", into: context)
        #expect(object.managedObjectContext == nil && object.value(forKey: "x") == nil)
        let error = #expect(throws: NSError.self) { try context.save() }
        #expect(error?.localizedDescription.contains("Nothing") == true)
        try context.save()
        #expect(NSEntityDescription.entity(forEntityName: "Nothing", in: context) == nil)
        let empty = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        #expect(throws: NSError.self) { try empty.titles(nil) }
        _ = Article(context: empty)
        #expect(throws: NSError.self) { try empty.save() }
    }

    @Test("closures run on the queue of the context")
    func queues() async throws {
        let context = try Library.filled()
        let title = context.performAndWait {
            context.performAndWait { try? context.titles(nil)[0] }
        }
        #expect(title == "Ann")
        let count = try await context.perform { try context.titles(nil).count }
        #expect(count == 6)
        let later = await context.perform(schedule: .enqueued) { 7 }
        #expect(later == 7)
        await #expect(throws: NSError.self) {
            try await context.perform { try context.titles(NSPredicate(format: "x")).count }
        }
        await withCheckedContinuation { continuation in
            context.perform { continuation.resume() }
        }
        let container = try Library.container()
        let made = try await container.performBackgroundTask { context in
            let category = Category(context: context)
            category.name = "x"
            try context.save()
            return category.objectID
        }
        #expect(!made.isTemporaryID)
        await withCheckedContinuation { continuation in
            container.performBackgroundTask { _ in continuation.resume() }
        }
    }

    @Test("pending deletions take the objects of cascading relationships")
    func cascades() throws {
        let context = try Library.filled()
        let ann = try context.article("Ann")
        context.delete(try #require(ann.category))
        #expect(!ann.isDeleted)
        context.processPendingChanges()
        #expect(ann.isDeleted && context.deletedObjects.count == 4)
        try context.save()
        #expect(try context.titles(nil) == ["dora", "Emil", "fox"])
    }
}

/// Sendable unchecked: notifications are posted on the thread that saves.
private final class Notifications: @unchecked Sendable {
    var all: [Notification] = []
}
