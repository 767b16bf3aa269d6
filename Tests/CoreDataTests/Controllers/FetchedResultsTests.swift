import CoreData
import Testing

@Suite("Fetched results controllers")
struct FetchedResultsTests {
    @Test("a controller has the objects of a request, and their positions")
    func objects() throws {
        let context = try Library.filled()
        let controller = NSFetchedResultsController(context)
        #expect(controller.fetchedObjects == nil && controller.sections == nil)
        #expect(controller.sectionIndexTitles.isEmpty)
        try controller.performFetch()
        let titles = ["Ann", "Emil", "bob", "dora", "fox", "Élan"]
        #expect(controller.fetchedObjects?.map(\.title) == titles)
        #expect(controller.titles == [titles])
        let dora = controller.object(at: IndexPath(row: 3, section: 0))
        #expect(try dora === context.article("dora"))
        #expect(controller.indexPath(forObject: dora) == IndexPath(item: 3, section: 0))
        #expect(controller.managedObjectContext === context && controller.cacheName == "articles")
        NSFetchedResultsController<Article>.deleteCache(withName: "articles")
        controller.fetchRequest.predicate = NSPredicate(format: "words > 300")
        #expect(controller.fetchedObjects?.count == 6)
        try controller.performFetch()
        #expect(controller.titles == [["Emil", "fox"]])
        #expect(controller.indexPath(forObject: dora) == nil)
    }

    @Test("sections have the names of an attribute, also through a relationship")
    func sections() throws {
        let context = try Library.filled()
        let controller = NSFetchedResultsController(
            context, sections: "category.name", ["category.name", "title"])
        try controller.performFetch()
        #expect(controller.titles == [["fox"], ["Ann", "bob", "Élan"], ["Emil", "dora"]])
        #expect(controller.sections?.map(\.name) == ["", "news", "sport"])
        #expect(controller.sections?.map(\.numberOfObjects) == [1, 3, 2])
        #expect(controller.sections?.map(\.indexTitle) == [nil, "N", "S"])
        #expect(controller.sectionIndexTitles == ["N", "S"])
        #expect(controller.section(forSectionIndexTitle: "S", at: 1) == 2)
        #expect(controller.section(forSectionIndexTitle: "N", at: 0) == 1)
        let drafts = NSFetchedResultsController(context, sections: "isDraft", ["isDraft", "words"])
        try drafts.performFetch()
        #expect(drafts.sections?.map(\.name) == ["0", "1"])
        let recorder = ResultsRecorder(drafts)
        recorder.title = "x"
        #expect(drafts.sectionIndexTitles == ["x"] && drafts.sections?[1].indexTitle == "x")
        // Objects that are not in the order of their sections are in one section each.
        let grouped = NSFetchedResultsController(context, sections: "category.name")
        try grouped.performFetch()
        #expect(grouped.titles == [["Ann", "bob", "Élan"], ["Emil", "dora"], ["fox"]])
    }

    @Test("a class may give its sections titles")
    func titles() throws {
        final class Controller: NSFetchedResultsController<Article> {
            override func sectionIndexTitle(forSectionName sectionName: String) -> String? {
                "<\(sectionName)>"
            }
        }
        let context = try Library.filled()
        let request: NSFetchRequest<Article> = Article.fetchRequest()
        request.sortDescriptors = [NSSortDescriptor(key: "isDraft", ascending: true)]
        let controller = Controller(
            fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: "isDraft",
            cacheName: nil)
        try controller.performFetch()
        #expect(controller.sectionIndexTitles == ["<0>", "<1>"])
        #expect(controller.sections?.map(\.indexTitle) == ["<0>", "<1>"])
    }

    @Test("a delegate learns of pending changes when they are processed, in Core Data's order")
    func changes() throws {
        let context = try Library.filled()
        let controller = NSFetchedResultsController(
            context, sections: "category.name", ["category.name", "title"])
        try controller.performFetch()
        let recorder = ResultsRecorder(controller)
        let sport = try #require(try context.article("dora").category)
        context.delete(try context.article("bob"))
        let new = Article(context: context)
        new.title = "Zoe"
        new.category = sport
        try context.article("Ann").words = 7
        try context.article("fox").category = sport
        #expect(recorder.take().isEmpty)
        context.processPendingChanges()
        #expect(
            recorder.take() == [
                "will", "delete section  0", "delete bob 1.1", "insert Zoe to 1.1",
                "move fox 0.0 to 1.3", "update Ann 1.0 to 0.0", "did",
            ])
        #expect(controller.titles == [["Ann", "Élan"], ["Emil", "Zoe", "dora", "fox"]])
        context.processPendingChanges()
        #expect(recorder.take().isEmpty)
        sport.name = "art2"
        try context.save()
        #expect(recorder.take().first == "will")
        #expect(controller.sections?.map(\.name) == ["art2", "news"])
        context.rollback()
        #expect(recorder.take().isEmpty)
    }

    @Test("an object that changes its order moves, and one that keeps it is updated")
    func moves() throws {
        let context = try Library.filled()
        let controller = NSFetchedResultsController(context, ["words"])
        try controller.performFetch()
        let recorder = ResultsRecorder(controller)
        try context.article("Ann").words = 150
        context.processPendingChanges()
        #expect(recorder.take() == ["will", "move Ann 0.0 to 0.1", "did"])
        try context.article("Ann").words = 160
        context.processPendingChanges()
        #expect(recorder.take() == ["will", "update Ann 0.1 to 0.1", "did"])
        try context.article("fox").words = -1
        try context.article("bob").title = "Bob"
        context.processPendingChanges()
        #expect(recorder.take() == ["will", "move fox 0.5 to 0.0", "update Bob 0.0 to 0.1", "did"])
        let difference = try #require(recorder.differences.first)
        #expect(difference.insertions.count == 1 && difference.removals.count == 1)
        // A change of another entity does not concern the result.
        let category = try #require(try context.article("dora").category)
        category.name = "x"
        context.processPendingChanges()
        #expect(recorder.take().isEmpty)
        context.rollback()
        #expect(controller.titles == [["Ann", "bob", "Élan", "dora", "Emil", "fox"]])
        #expect(recorder.take().first == "will")
    }

    @Test("without a delegate the result stays as it was fetched")
    func withoutDelegate() throws {
        let context = try Library.filled()
        let controller = NSFetchedResultsController(context)
        try controller.performFetch()
        context.delete(try context.article("fox"))
        try context.save()
        #expect(controller.fetchedObjects?.count == 6)
        let recorder = ResultsRecorder(controller)
        context.delete(try context.article("dora"))
        context.processPendingChanges()
        #expect(recorder.take() == ["will", "delete dora 0.3", "delete fox 0.4", "did"])
        context.reset()
        #expect(recorder.take().count == 2 + 5 + 4)
        #expect(recorder.sections[0].objects.count == 5)
    }

    @Test("saves of other contexts are seen as they are merged")
    func others() async throws {
        let context = try Library.filled()
        let controller = NSFetchedResultsController(context, ["words"])
        try controller.performFetch()
        let recorder = ResultsRecorder(controller)
        let other = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        other.persistentStoreCoordinator = context.persistentStoreCoordinator
        let notifications = NotificationBox(.NSManagedObjectContextDidSave, other)
        try other.article("Ann").words = 1
        let new = Article(context: other)
        new.title = "Zoe"
        new.words = 1_000
        try other.save()
        context.processPendingChanges()
        #expect(recorder.take().isEmpty)
        context.mergeChanges(fromContextDidSave: notifications.all[0])
        context.processPendingChanges()
        #expect(
            recorder.take()
                == ["will", "insert Zoe to 0.6", "update Ann 0.0 to 0.0", "did"])
        other.delete(try other.article("fox"))
        try other.save()
        context.processPendingChanges()
        #expect(recorder.take() == ["will", "delete fox 0.5", "did"])
        context.automaticallyMergesChangesFromParent = true
        new.words = 50
        try other.save()
        await context.perform {}
        await context.perform {}
        #expect(recorder.take() == ["will", "move Zoe 0.5 to 0.1", "did"])
    }

    @Test("changes at the end of a closure of perform are announced on the queue of the context")
    func queues() async throws {
        let context = try Library.filled()
        let controller = NSFetchedResultsController(context)
        try controller.performFetch()
        let recorder = ResultsRecorder(controller)
        try await context.perform { try context.article("Ann").words = 1 }
        #expect(recorder.take() == ["will", "update Ann 0.0 to 0.0", "did"])
        let main = try Library.container().viewContext
        try main.performAndWait { try Library.fill(main) }
        let shown = NSFetchedResultsController(main)
        try shown.performFetch()
        let watcher = ResultsRecorder(shown)
        await withCheckedContinuation { continuation in
            watcher.didChange = { continuation.resume() }
            main.performAndWait { try? main.article("Ann").words = 1 }
        }
        #expect(watcher.take() == ["will", "update Ann 0.0 to 0.0", "did"])
    }

    @Test("a delegate may change objects, which is announced after its call")
    func reentrancy() throws {
        let context = try Library.filled()
        let controller = NSFetchedResultsController(context)
        try controller.performFetch()
        let recorder = ResultsRecorder(controller)
        let fox = try context.article("fox")
        recorder.didChange = { [weak recorder] in
            recorder?.didChange = {}
            context.delete(fox)
            try? context.save()
        }
        try context.article("Ann").words = 1
        try context.save()
        #expect(
            recorder.take()
                == ["will", "update Ann 0.0 to 0.0", "did", "will", "delete fox 0.4", "did"])
        let given = try #require(recorder.controllers.first)
        #expect(given == controller && given.isEqual(controller) && given.hash == controller.hash)
        #expect(given.fetchedObjects?.count == 5 && given.fetchRequest.entityName == "Article")
    }

    @Test("mistakes are errors, and positions that do not exist have an object in no context")
    func mistakes() throws {
        let context = try Library.filled()
        for (path, order) in [
            ("nothing", ["title"]), ("tags.name", ["title"]), ("category", ["title"]),
            ("", ["title"]), (nil, []), (nil, ["nothing"]), ("title.x", ["title"]),
        ] as [(String?, [String])] {
            let controller = NSFetchedResultsController(context, sections: path, order)
            #expect(throws: NSError.self, "\(path ?? "")") { try controller.performFetch() }
            #expect(controller.fetchedObjects == nil)
        }
        let controller = NSFetchedResultsController(context)
        #expect(controller.object(at: [0, 0]).managedObjectContext == nil)
        try controller.performFetch()
        for path: IndexPath in [[], [0], [0, 6], [0, -1], [1, 0], [-1, 0], [0, 0, 0]] {
            let absent = controller.object(at: path)
            #expect(absent.managedObjectContext == nil && absent.title == "")
        }
        #expect(controller.section(forSectionIndexTitle: "X", at: 9) == NSNotFound)
        #expect(controller.indexPath(forObject: Article(context: context)) == nil)
        let foreign = try Library.filled()
        #expect(controller.indexPath(forObject: try foreign.article("Ann")) == nil)
        let names = NSFetchRequest<NSFetchRequestResult>(entityName: "Article")
        names.resultType = .dictionaryResultType
        names.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
        let rows = NSFetchedResultsController(
            fetchRequest: names, managedObjectContext: context, sectionNameKeyPath: nil,
            cacheName: nil)
        try rows.performFetch()
        #expect(rows.fetchedObjects?.count == 6)
        #expect((rows.object(at: [0, 0]) as? NSDictionary)?["title"] as? String == "Ann")
        #expect((rows.object(at: [7, 0]) as? Article)?.managedObjectContext == nil)
    }

    @Test("index paths have sections, rows and items")
    func indexPaths() {
        var path = IndexPath(row: 3, section: 2)
        #expect((path.section, path.row, path.item) == (2, 3, 3))
        path.section = 5
        path.item = 6
        #expect(path == IndexPath(item: 6, section: 5))
        var empty = IndexPath()
        #expect(empty.section == NSNotFound && empty.row == NSNotFound)
        empty.row = 4
        #expect(empty == [0, 4])
        #expect(IndexPath(index: 7).row == NSNotFound)
    }
}

/// The notifications of an object.
///
/// Sendable unchecked: notifications are posted on the thread of the change.
final class NotificationBox: @unchecked Sendable {
    private(set) var all: [Notification] = []
    private var token: (any NSObjectProtocol)?

    init(_ name: Notification.Name, _ object: AnyObject) {
        token = NotificationCenter.default.addObserver(forName: name, object: object, queue: nil) {
            [weak self] in self?.all.append($0)
        }
    }

    deinit { if let token { NotificationCenter.default.removeObserver(token) } }
}
