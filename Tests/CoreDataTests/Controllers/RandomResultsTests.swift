import CoreData
import TestSupport
import Testing

@Suite("Random changes of fetched results")
struct RandomResultsTests {
    /// The names that sections and titles are taken from, so that many are equal.
    private static let names = ["a", "b", "c", "d", "e"]

    @Test("the reported changes make the former result the one that a fetch finds")
    func applying() throws {
        var random = SeededGenerator.fromEnvironment("fetched results")
        for _ in 0..<12 {
            let context = try Library.filled()
            try context.performAndWait { try run(context, &random) }
        }
    }

    private func run(
        _ context: NSManagedObjectContext, _ random: inout SeededGenerator
    ) throws {
        let other = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        other.persistentStoreCoordinator = context.persistentStoreCoordinator
        context.mergePolicy = .mergeByPropertyObjectTrump
        other.mergePolicy = .mergeByPropertyObjectTrump
        context.automaticallyMergesChangesFromParent = true
        // Sections in the order of their names, and in that of other values.
        let order = Bool.random(using: &random) ? ["title", "words"] : ["words", "title"]
        let predicate = Bool.random(using: &random) ? NSPredicate(format: "isDraft == NO") : nil
        let controller = NSFetchedResultsController(
            context, sections: Bool.random(using: &random) ? "title" : nil, order, predicate)
        try controller.performFetch()
        let recorder = ResultsRecorder(controller)
        for _ in 0..<20 {
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                let isOwn = Int.random(in: 0..<4, using: &random) > 0
                try change(isOwn ? context : other, &random)
            }
            switch Int.random(in: 0..<8, using: &random) {
            case 0: context.rollback()
            case 1: try context.save()
            case 2: context.refreshAllObjects()
            default: break
            }
            try other.save()
            context.processPendingChanges()
            let fresh = NSFetchedResultsController(
                context, sections: controller.sectionNameKeyPath, order, predicate)
            try fresh.performFetch()
            let found = fresh.sections ?? []
            #expect(recorder.sections.map(\.name) == found.map(\.name))
            #expect(
                recorder.sections.map { $0.objects.map(\.objectID) }
                    == found.map { ($0.objects ?? []).compactMap { ($0 as? Article)?.objectID } })
            try #require(controller.titles == fresh.titles)
        }
    }

    private func change(
        _ context: NSManagedObjectContext, _ random: inout SeededGenerator
    ) throws {
        let all = try context.fetch(Article.fetchRequest() as NSFetchRequest<Article>)
        let article = all.randomElement(using: &random)
        switch Int.random(in: 0..<8, using: &random) {
        case 0, 1:
            let new = Article(context: context)
            new.title = Self.names.randomElement(using: &random) ?? ""
            new.words = Int.random(in: 0...1_000, using: &random)
        case 2: if let article { context.delete(article) }
        case 3, 4: article?.title = Self.names.randomElement(using: &random) ?? ""
        case 5: article?.words = Int.random(in: 0...1_000, using: &random)
        case 6: article?.setValue(Bool.random(using: &random), forKey: "isDraft")
        default: article?.setValue(Double.random(in: 0...1, using: &random), forKey: "price")
        }
    }
}
