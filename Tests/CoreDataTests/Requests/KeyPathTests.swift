import CoreData
import Testing

@Suite("Key paths of Swift")
struct KeyPathTests {
    @Test("a descriptor sorts by the property that a key path reads, also of a related object")
    func sorting() throws {
        let context = try Library.filled()
        let byWords = NSSortDescriptor(keyPath: \Article.words, ascending: false)
        #expect(byWords.key == "words")
        #expect(try context.titles(nil, [byWords]).first == "fox")
        let byCategory = NSSortDescriptor(keyPath: \Article.category?.name, ascending: true)
        #expect(byCategory.key == "category.name")
        #expect(
            try context.titles(nil, [byCategory, byWords])
                == ["fox", "Élan", "bob", "Ann", "Emil", "dora"])
        #expect(NSSortDescriptor(keyPath: \Article.tags, ascending: true).key == "tags")
        #expect(NSSortDescriptor(keyPath: \Article.forced, ascending: true).key == "published")
    }

    @Test("an expression computes with the property that a key path reads")
    func expressions() throws {
        let context = try Library.filled()
        let total = NSExpressionDescription()
        total.name = "total"
        total.expression = NSExpression(
            forFunction: "sum:", arguments: [NSExpression(forKeyPath: \Article.words)])
        let request = NSFetchRequest<NSDictionary>(entityName: "Article")
        request.resultType = .dictionaryResultType
        request.propertiesToFetch = [total]
        #expect(try context.fetch(request).first?["total"] as? Int == 1_500)
    }

    @Test("a key path that reads no property, or several ones, is an error of a fetch")
    func others() throws {
        let context = try Library.filled()
        for descriptor in [
            NSSortDescriptor(keyPath: \Article.nothing, ascending: true),
            NSSortDescriptor(keyPath: \Article.summary, ascending: true),
        ] {
            let error = #expect(throws: NSError.self) { try context.titles(nil, [descriptor]) }
            #expect(error?.localizedDescription.isEmpty == false)
        }
    }

    @Test("the key path of a class without an entity is that of the names which it reads")
    func classesWithoutEntities() {
        #expect(NSSortDescriptor(keyPath: \Unknown.name, ascending: true).key == "name")
    }

    @Test("an accessor that follows a relationship to its end ends")
    func endlessAccessors() throws {
        let node = NSEntityDescription()
        node.name = "Node"
        node.managedObjectClass = Node.self
        Library.relate(
            node, "parent", isToMany: false, node, "children", inverseIsToMany: true)
        let model = NSManagedObjectModel()
        model.entities = [node]
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(type: .inMemory, at: URL(filePath: "/dev/null"))
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        let request = NSFetchRequest<Node>(entityName: "Node")
        request.sortDescriptors = [NSSortDescriptor(keyPath: \Node.depth, ascending: true)]
        #expect(throws: NSError.self) { try context.fetch(request) }
    }

    private final class Node: NSManagedObject {
        var depth: Int { 1 + ((value(forKey: "parent") as? Node)?.depth ?? 0) }
    }

    private final class Unknown: NSManagedObject {
        var name: String? { value(forKey: "name") as? String }
    }
}

extension Article {
    /// An accessor that needs a value.
    fileprivate var forced: Date {
        // swift-format-ignore: NeverForceUnwrap
        (value(forKey: "published") as? Date)!
    }

    fileprivate var nothing: Int { 5 }

    fileprivate var summary: String { "\(title) \(words)" }
}
