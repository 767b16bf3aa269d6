import CoreData
import Testing

@Suite("Contexts with a parent")
struct ParentTests {
    /// A context with six articles that are saved, and a child of it.
    private func family() throws -> (parent: NSManagedObjectContext, child: NSManagedObjectContext)
    {
        let parent = try Library.filled()
        return (parent, Self.child(of: parent))
    }

    private static func child(of parent: NSManagedObjectContext) -> NSManagedObjectContext {
        let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        child.parent = parent
        return child
    }

    /// The titles that a context of its own reads from the store.
    private func stored(_ context: NSManagedObjectContext) throws -> [String] {
        let other = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        other.persistentStoreCoordinator = context.persistentStoreCoordinator
        return try other.titles(nil)
    }

    private let byTitle = [NSSortDescriptor(key: "title", ascending: true)]

    @Test("a save of a child changes its parent, and a save of the parent the store")
    func saving() throws {
        let (parent, child) = try family()
        #expect(child.parent === parent)
        #expect(child.persistentStoreCoordinator === parent.persistentStoreCoordinator)
        let ann = try child.article("Ann")
        ann.title = "Zoe"
        ann.category = try child.article("dora").category
        child.delete(try child.article("fox"))
        let new = Article(context: child)
        new.title = "new"
        new.words = 1_000
        new.category = ann.category
        let tag = NSEntityDescription.insertNewObject(forEntityName: "Tag", into: child)
        tag.setValue("long", forKey: "name")
        new.tags = [tag]
        ann.tags = ann.tags.union([tag])
        #expect(try parent.titles(nil) == ["Ann", "bob", "Élan", "dora", "Emil", "fox"])
        #expect(!parent.hasChanges)
        try child.save()
        #expect(!child.hasChanges && parent.hasChanges)
        #expect(try parent.titles(nil) == ["Zoe", "bob", "Élan", "dora", "Emil", "new"])
        #expect(try stored(parent)[0] == "Ann")
        let moved = try parent.article("Zoe")
        #expect(moved.category?.name == "sport")
        let names = moved.tags.compactMap { $0.value(forKey: "name") as? String }
        #expect(names.sorted() == ["long", "short"])
        let same = try parent.article("new")
        #expect(same.objectID == new.objectID && new.objectID.isTemporaryID && !new.isInserted)
        #expect(same.category?.articles.count == 4 && same.tags.count == 1)
        try parent.save()
        #expect(try stored(parent) == ["Zoe", "bob", "Élan", "dora", "Emil", "new"])
        #expect(!new.objectID.isTemporaryID && new.objectID == same.objectID)
        #expect(tag.objectID == same.tags.first?.objectID)
        new.title = "newer"
        #expect(new.category?.objectID == same.category?.objectID)
        try child.save()
        #expect(same.title == "newer")
        try parent.save()
        #expect(try stored(parent).last == "newer")
    }

    @Test("a child sees the pending changes of its parent, and its own over them")
    func fetching() throws {
        let (parent, child) = try family()
        try parent.article("Ann").title = "Zoe"
        parent.delete(try parent.article("fox"))
        let new = Article(context: parent)
        new.title = "new"
        new.words = 700
        #expect(try child.titles(nil) == ["Zoe", "bob", "Élan", "dora", "Emil", "new"])
        let shown = try child.article("new")
        #expect(shown.objectID == new.objectID && shown !== new && !shown.isInserted)
        #expect(child.object(with: new.objectID) === shown)
        #expect(try child.existingObject(with: new.objectID) === shown)
        shown.title = "newer"
        child.delete(try child.article("bob"))
        let own = Article(context: child)
        own.words = -1
        #expect(try child.titles(nil) == ["", "Zoe", "Élan", "dora", "Emil", "newer"])
        let request: NSFetchRequest<Article> = Article.fetchRequest()
        #expect(try child.count(for: request) == 6)
        request.predicate = NSPredicate(format: "category.name == 'news'")
        #expect(try child.count(for: request) == 2)
        let news = try #require(try child.article("Zoe").category)
        #expect(news.articles.map(\.title).sorted() == ["Zoe", "Élan"])
        #expect(try child.titles(NSPredicate(format: "title BEGINSWITH 'n'")) == ["newer"])
        let identifiers = NSFetchRequest<NSManagedObjectID>(entityName: "Article")
        identifiers.resultType = .managedObjectIDResultType
        #expect(try child.fetch(identifiers).contains(new.objectID))
        #expect(new.title == "new" && parent.deletedObjects.count == 1)
    }

    @Test("a rollback and a reset of a child leave its parent as it is")
    func discarding() throws {
        let (parent, child) = try family()
        try parent.article("Ann").title = "Zoe"
        let zoe = try child.article("Zoe")
        zoe.words = 9
        child.delete(try child.article("bob"))
        child.rollback()
        #expect(zoe.words == 0 && !child.hasChanges && parent.hasChanges)
        zoe.words = 9
        child.reset()
        #expect(zoe.managedObjectContext == nil && !child.hasChanges)
        #expect(try child.article("Zoe").words == 0)
        parent.reset()
        #expect(try child.titles(nil, byTitle).first == "Ann")
    }

    @Test("deletions of a child take the objects of cascading relationships in the parent")
    func cascades() throws {
        let (parent, child) = try family()
        child.delete(try #require(try child.article("Ann").category))
        try child.save()
        #expect(try child.titles(nil) == ["dora", "Emil", "fox"])
        #expect(parent.deletedObjects.count == 4)
        #expect(try parent.titles(nil) == ["dora", "Emil", "fox"])
        parent.rollback()
        #expect(try child.titles(nil).count == 6)
    }

    @Test("a child that follows its parent merges what the parent has processed")
    func merging() async throws {
        let (parent, child) = try family()
        let (ann, fox) = (try child.article("Ann"), try child.article("fox"))
        try parent.article("Ann").words = 9
        parent.processPendingChanges()
        child.processPendingChanges()
        #expect(ann.words == 0)
        child.automaticallyMergesChangesFromParent = true
        let changes = NotificationBox(.NSManagedObjectContextObjectsDidChange, child)
        try parent.article("Ann").words = 10
        parent.delete(try parent.article("fox"))
        parent.processPendingChanges()
        await child.perform {}
        #expect(ann.words == 10 && fox.isDeleted)
        let info = changes.all.map { $0.userInfo }
        #expect(info.contains { ($0?[NSRefreshedObjectsKey] as? Set<NSManagedObject>) == [ann] })
        #expect(info.contains { ($0?[NSDeletedObjectsKey] as? Set<NSManagedObject>) == [fox] })
        ann.title = "own"
        try parent.article("Ann").words = 11
        parent.processPendingChanges()
        await child.perform {}
        #expect(ann.title == "own" && ann.words == 11)
        let sibling = Self.child(of: parent)
        try sibling.article("dora").words = 77
        try sibling.save()
        await parent.perform {}
        await child.perform {}
        #expect(try child.article("dora").words == 77)
    }

    @Test("controllers of a parent and of a child see what the other one saves")
    func controllers() async throws {
        let (parent, child) = try family()
        child.automaticallyMergesChangesFromParent = true
        let (upper, lower) = (
            NSFetchedResultsController(parent), NSFetchedResultsController(child)
        )
        try upper.performFetch()
        try lower.performFetch()
        let (above, below) = (ResultsRecorder(upper), ResultsRecorder(lower))
        try child.article("Ann").words = 5
        try child.save()
        #expect(below.take() == ["will", "update Ann 0.0 to 0.0", "did"])
        await parent.perform {}
        #expect(above.take() == ["will", "update Ann 0.0 to 0.0", "did"])
        await child.perform {}
        _ = below.take()
        let new = Article(context: parent)
        new.title = "Anna"
        parent.processPendingChanges()
        await child.perform {}
        #expect(below.take() == ["will", "insert Anna to 0.1", "did"])
        #expect(above.take() == ["will", "insert Anna to 0.1", "did"])
        try parent.save()
        await child.perform {}
        #expect(lower.fetchedObjects?[1].objectID == new.objectID)
        #expect(!new.objectID.isTemporaryID)
    }

    @Test("children have children, and one save moves changes by one context")
    func generations() throws {
        let (parent, child) = try family()
        let grandchild = Self.child(of: child)
        let new = Article(context: grandchild)
        new.title = "new"
        new.words = 900
        new.category = try grandchild.article("dora").category
        try grandchild.article("Ann").title = "Zoe"
        try grandchild.save()
        #expect(try child.titles(nil).last == "new" && parent.titles(nil).count == 6)
        try child.save()
        #expect(try parent.titles(nil).last == "new" && stored(parent).count == 6)
        try parent.save()
        #expect(try stored(parent) == ["Zoe", "bob", "Élan", "dora", "Emil", "fox", "new"])
        let identifier = try parent.article("new").objectID
        #expect(new.objectID == identifier && !identifier.isTemporaryID)
        #expect(try child.article("new").objectID == identifier)
    }

    @Test("changes of what the parent has deleted are dropped")
    func deletedObjects() throws {
        let (parent, child) = try family()
        let (ann, bob) = (try child.article("Ann"), try child.article("bob"))
        parent.delete(try parent.article("Ann"))
        ann.title = "Zoe"
        bob.words = 9
        try child.save()
        #expect(ann.isDeleted && !bob.isDeleted)
        #expect(try parent.article("bob").words == 9)
        try parent.save()
        #expect(try stored(parent).contains("Ann") == false)
        let elan = try child.article("Élan")
        parent.delete(try parent.article("Élan"))
        try parent.save()
        child.delete(elan)
        try child.save()
        #expect(elan.isDeleted && !parent.hasChanges)
    }

    @Test("a wrong parent, and an object of another context, are errors of the save")
    func mistakes() throws {
        let (parent, child) = try family()
        let sibling = Self.child(of: parent)
        let unsaved = Article(context: sibling)
        try child.article("Ann").category = nil
        child.insert(unsaved)
        #expect(throws: NSError.self) { try child.save() }
        child.rollback()
        #expect(throws: NSError.self) { try child.existingObject(with: unsaved.objectID) }
        #expect(child.object(with: unsaved.objectID).isDeleted)
        child.parent = child
        #expect(child.parent === parent)
        #expect(throws: NSError.self) { try child.save() }
        parent.parent = child
        #expect(parent.parent == nil)
        #expect(throws: NSError.self) { try parent.save() }
        var (last, count) = (child, 1)
        while last.parent != nil, count < 100 {
            last = Self.child(of: last)
            count += 1
        }
        #expect(count < 20)
        #expect(throws: NSError.self) { try last.save() }
        let orphan = Self.child(
            of: NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType))
        #expect(throws: NSError.self) { try orphan.titles(nil) }
        let missing = Article(context: child)
        missing.setValue(nil, forKey: "title")
        let error = #expect(throws: NSError.self) { try child.save() }
        #expect(error?.code == NSValidationMissingMandatoryPropertyError && !parent.hasChanges)
    }

    @Test("a context keeps its parent")
    func lifetime() throws {
        var parent: NSManagedObjectContext? = try Library.filled()
        let child = Self.child(of: try #require(parent))
        let ann = try child.article("Ann")
        parent = nil
        ann.words = 12
        try child.save()
        try child.parent?.save()
        #expect(try child.titles(NSPredicate(format: "words == 12")) == ["Ann"])
        #expect(try stored(child).count == 6)
    }

    @Test("a child on another queue saves while its parent is used")
    func queues() async throws {
        let parent = try Library.filled()
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<4 {
                group.addTask {
                    let child = Self.child(of: parent)
                    for step in 0..<10 {
                        await child.perform {
                            let article = Article(context: child)
                            article.title = "\(number) \(step)"
                            try? child.save()
                        }
                    }
                }
            }
            group.addTask {
                for _ in 0..<10 { _ = try? await parent.perform { try parent.save() } }
            }
        }
        try await parent.perform { try parent.save() }
        #expect(try stored(parent).count == 46)
    }

    @Test("an undo manager of a child undoes its changes")
    func undoing() throws {
        let (parent, child) = try family()
        child.undoManager = UndoManager()
        let ann = try child.article("Ann")
        ann.title = "Zoe"
        child.processPendingChanges()
        child.undo()
        #expect(ann.title == "Ann")
        child.redo()
        try child.save()
        #expect(try parent.article("Zoe").words == 0)
    }

    @Test("permanent identifiers are those of saved objects")
    func identifiers() throws {
        let context = try Library.filled()
        try context.obtainPermanentIDs(for: [try context.article("Ann")])
        let new = Article(context: context)
        #expect(throws: NSError.self) { try context.obtainPermanentIDs(for: [new]) }
        try context.save()
        try context.obtainPermanentIDs(for: [new])
    }
}
