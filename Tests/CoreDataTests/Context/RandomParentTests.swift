import CoreData
import TestSupport
import Testing

@Suite("Random changes of contexts with parents")
struct RandomParentTests {
    @Test("a child, its parent and the store get what a context without a parent has")
    func chains() throws {
        var random = SeededGenerator.fromEnvironment("contexts with a parent")
        for round in 0..<10 { try run(depth: 1 + round % 3, &random) }
    }

    private func run(depth: Int, _ random: inout SeededGenerator) throws {
        let flat = try Library.filled()
        var chain = [try Library.filled()]
        for _ in 0..<depth {
            let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
            child.parent = chain.last
            chain.append(child)
        }
        let last = try #require(chain.last)
        for step in 0..<40 {
            let seed = random.next()
            for context in [flat, last] {
                var same = SeededGenerator(seed: seed)
                try change(context, step, &same)
            }
            try #require(try content(last) == content(flat))
            guard Int.random(in: 0..<5, using: &random) == 0 else { continue }
            let saved = Int.random(in: 1...chain.count, using: &random)
            for context in chain.reversed().prefix(saved) { try context.save() }
            if saved == chain.count { try flat.save() }
            for context in chain.reversed().prefix(min(saved + 1, chain.count)) {
                try #require(try content(context) == content(flat))
            }
            if Bool.random(using: &random) { last.refreshAllObjects() }
            try #require(try content(last) == content(flat))
        }
        for context in chain.reversed() { try context.save() }
        let fresh = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        fresh.persistentStoreCoordinator = last.persistentStoreCoordinator
        #expect(try content(fresh) == content(flat))
        #expect(!last.registeredObjects.contains { $0.objectID.isTemporaryID })
    }

    private func articles(_ context: NSManagedObjectContext) throws -> [Article] {
        let request: NSFetchRequest<Article> = Article.fetchRequest()
        request.sortDescriptors = [NSSortDescriptor(key: "words", ascending: true)]
        return try context.fetch(request)
    }

    /// The articles with what they are related to, and the members of each category.
    private func content(_ context: NSManagedObjectContext) throws -> [String] {
        func name(_ object: NSManagedObject) -> String {
            object.value(forKey: "name") as? String ?? ""
        }
        let lines = try articles(context).map { article in
            let tags = article.tags.map(name).sorted()
            return "\(article.words) \(article.title) \(article.category?.name ?? "-") \(tags)"
        }
        let categories = try context.fetch(NSFetchRequest<Category>(entityName: "Category"))
        return lines
            + categories.map { "\($0.name) \($0.articles.map(\.words).sorted())" }.sorted()
    }

    private func change(
        _ context: NSManagedObjectContext, _ step: Int, _ random: inout SeededGenerator
    ) throws {
        let all = try articles(context)
        let categories = try context.fetch(NSFetchRequest<Category>(entityName: "Category"))
            .sorted { $0.name < $1.name }
        let request = NSFetchRequest<NSManagedObject>(entityName: "Tag")
        let tags = try context.fetch(request).sorted {
            ($0.value(forKey: "name") as? String ?? "")
                < ($1.value(forKey: "name") as? String ?? "")
        }
        let article = all.randomElement(using: &random)
        let category = categories.randomElement(using: &random)
        switch Int.random(in: 0..<10, using: &random) {
        case 0, 1:
            let new = Article(context: context)
            new.title = "new \(step)"
            new.words = 1_000 + step
            new.category = category
            new.tags = Set(tags.prefix(Int.random(in: 0...2, using: &random)))
        case 2: if let article { context.delete(article) }
        case 3: article?.title = "title \(step)"
        case 4: article?.category = category
        case 5: article?.category = nil
        case 6:
            let tag = NSEntityDescription.insertNewObject(forEntityName: "Tag", into: context)
            tag.setValue("tag \(step)", forKey: "name")
            article?.tags.insert(tag)
        case 7: article?.tags = Set(tags.shuffled(using: &random).prefix(2))
        case 8:
            let new = Category(context: context)
            new.name = "category \(step)"
            new.articles = Set(all.prefix(Int.random(in: 0...3, using: &random)))
        default:
            if step % 4 == 0, let category { context.delete(category) }
        }
        context.processPendingChanges()
    }
}
