import CoreData
import Testing

/// A class with values that no store has.
private final class CountedArticle: Article {
    var size: String { words < 200 ? "short" : "long" }

    override func value(forKey key: String) -> Any? {
        key == "cached" ? "\(words / 200)" : super.value(forKey: key)
    }

    override func value(forUndefinedKey key: String) -> Any? {
        switch key {
        case "size": size
        case "none": nil
        case "categoryTitle": category.map { $0.name.uppercased() }
        default: super.value(forUndefinedKey: key)
        }
    }
}

@Suite("Sections with computed names")
struct ComputedSectionTests {
    private func context() throws -> NSManagedObjectContext {
        let model = Library.model()
        model.entitiesByName["Article"]?.managedObjectClass = CountedArticle.self
        let container = NSPersistentContainer(name: "Computed", managedObjectModel: model)
        container.persistentStoreDescriptions[0].type = NSInMemoryStoreType
        container.loadPersistentStores { _, error in #expect(error == nil) }
        let context = container.newBackgroundContext()
        let categories = ["news", "sport"].map { name in
            let category = Category(context: context)
            category.name = name
            return category
        }
        for (index, title) in ["Ann", "bob", "Élan", "dora", "Emil", "fox"].enumerated() {
            let article = CountedArticle(context: context)
            article.title = title
            article.words = index * 100
            article.category = index < 5 ? categories[index / 3] : nil
        }
        try context.save()
        return context
    }

    @Test("a property that the class computes names the sections, and an update moves its object")
    func computed() throws {
        let context = try context()
        let controller = NSFetchedResultsController(context, sections: "size", ["words"])
        try controller.performFetch()
        #expect(controller.sections?.map(\.name) == ["short", "long"])
        #expect(controller.titles == [["Ann", "bob"], ["Élan", "dora", "Emil", "fox"]])
        let recorder = ResultsRecorder(controller)
        try context.article("bob").words = 1_000
        context.processPendingChanges()
        #expect(recorder.take() == ["will", "move bob 0.1 to 1.4", "did"])
        for title in ["Élan", "dora", "Emil", "fox", "bob"] { try context.article(title).words = 0 }
        context.processPendingChanges()
        #expect(controller.sections?.map(\.name) == ["short"])
        #expect(recorder.sections.map(\.objects.count) == [6])
    }

    @Test("a transient attribute that the class computes names the sections")
    func transient() throws {
        let context = try context()
        let controller = NSFetchedResultsController(context, sections: "cached", ["words"])
        try controller.performFetch()
        #expect(controller.sections?.map(\.name) == ["0", "1", "2"])
        let recorder = ResultsRecorder(controller)
        try context.article("fox").words = 600
        context.processPendingChanges()
        #expect(recorder.sections.map(\.name) == ["0", "1", "2", "3"])
    }

    @Test("a name that depends on another object changes with that object")
    func otherObjects() throws {
        let context = try context()
        let controller = NSFetchedResultsController(
            context, sections: "categoryTitle", ["category.name"],
            NSPredicate(format: "category != nil"))
        try controller.performFetch()
        #expect(controller.sections?.map(\.name) == ["NEWS", "SPORT"])
        let recorder = ResultsRecorder(controller)
        try context.article("Ann").category?.name = "olds"
        context.processPendingChanges()
        #expect(recorder.sections.map(\.name) == ["OLDS", "SPORT"])
        let one = NSFetchedResultsController(context, sections: "none", ["words"])
        try one.performFetch()
        #expect(one.sections?.map(\.name) == [""])
    }

    @Test("a name that neither the entity nor the class has is an error that names it")
    func unknown() throws {
        let context = try context()
        let controller = NSFetchedResultsController(context, sections: "length", ["words"])
        #expect {
            try controller.performFetch()
        } throws: { error in
            error.localizedDescription.contains("`length` does not name sections of Article")
        }
    }

    @Test("values by key and by key path are those that the class computes")
    func values() throws {
        let ann = try context().article("Ann")
        #expect(ann.value(forKey: "size") as? String == "short")
        #expect(ann.value(forKeyPath: "size") as? String == "short")
        #expect(ann.value(forKeyPath: "cached") as? String == "0")
        #expect(ann.primitiveValue(forKey: "cached") == nil)
        #expect(ann.primitiveValue(forKey: "size") == nil)
        #expect(ann.value(forKey: "length") == nil && ann.value(forKeyPath: "length") == nil)
        let first = ann.category?.articles.first { $0.title == "Ann" }
        #expect(first?.value(forKeyPath: "category.name") as? String == "news")
        #expect(ann.value(forKeyPath: "category.articles.@count") as? Int == 3)
        #expect(ann.value(forKeyPath: "size.x") == nil)
        let keyed = ann.dictionaryWithValues(forKeys: ["size", "title", "nothing"])
        #expect(keyed["size"] as? String == "short" && keyed["nothing"] is NSNull)
        // A store has no value of that name.
        ann.setValue("long", forKey: "size")
        #expect(throws: NSError.self) { try ann.managedObjectContext?.save() }
    }
}
