import CoreData
import Foundation
import SwiftData
import SwiftDataKit
import Testing

/// One object, one state: a change by a model or by its managed object is seen by the other.
@Suite("Models and managed objects")
struct SharedStateTests {
    @Test("a change of either is seen by the other at once, before a save")
    func values() throws {
        let context = ModelContext(try Shelf().container)
        let book = try #require(try context.book("novel 1"))
        let object = try #require(book.managedObject)
        #expect(object.value(forKey: "title") as? String == "novel 1")
        book.title = "by model"
        #expect(object.value(forKey: "title") as? String == "by model")
        #expect(object.isUpdated && object.changedValues()["title"] as? String == "by model")
        object.setValue("by object", forKey: "title")
        object.setValue(7, forKey: "pages")
        object.setValue(4.5, forKey: "rating")
        #expect(book.title == "by object" && book.pages == 7 && book.rating == 4.5)
        #expect(book.hasChanges && context.hasChanges)
        #expect((object.value(forKey: "details") as? [String: Any])?["language"] as? String == "en")
        object.setValue(["language": "de"], forKey: "details")
        #expect(book.details == Details(language: "de"))
        #expect(book.managedObject === object)
        let objects = try #require(context.managedObjectContext)
        #expect(objects.updatedObjects == [object])
        try objects.save()
        #expect(!context.hasChanges && !object.hasChanges)
        let other = ModelContext(context.container)
        #expect(try other.book("by object")?.pages == 7)
    }

    @Test("relationships, insertions and deletions are those of one context")
    func objects() throws {
        let context = ModelContext(try Shelf().container)
        let objects = try #require(context.managedObjectContext)
        #expect(context.managedObjectContext === objects)
        let poem = try #require(
            try context.fetch(
                FetchDescriptor<Genre>(predicate: #Predicate { $0.name == "poem" })
            ).first)
        let book = try #require(try context.book("novel 1"))
        book.managedObject?.setValue(poem.managedObject, forKey: "genre")
        #expect(book.genre === poem && poem.books.count == 3)
        poem.books.removeAll()
        #expect(book.managedObject?.value(forKey: "genre") == nil)
        let new = NSEntityDescription.insertNewObject(forEntityName: "Book", into: objects)
        new.setValue("new", forKey: "title")
        new.setValue(9, forKey: "pages")
        new.setValue(["language": "fr"], forKey: "details")
        new.setValue(poem.managedObject, forKey: "genre")
        let model = try #require(context.insertedModelsArray.first as? Book)
        #expect(model.title == "new" && model.genre === poem && model.managedObject === new)
        #expect(poem.books == [model])
        try context.save()
        #expect(!new.objectID.isTemporaryID)
        #expect(new.objectID.persistentIdentifier == model.persistentModelID)
        objects.delete(new)
        #expect(model.isDeleted && context.deletedModelsArray.count == 1)
        context.rollback()
        #expect(!model.isDeleted && !new.isDeleted)
        context.delete(model)
        #expect(new.isDeleted)
        objects.rollback()
        #expect(!context.hasChanges)
        book.pages = 1
        objects.delete(try #require(book.managedObject))
        try objects.save()
        #expect(book.isDeleted && book.managedObject == nil)
        #expect(Book(title: "free").managedObject == nil)
        #expect(Book(title: "free").objectID == nil)
    }

    @Test("observers of a model see a change by its managed object")
    func observation() throws {
        let context = ModelContext(try Shelf().container)
        let book = try #require(try context.book("novel 1"))
        let changes = Changes()
        withObservationTracking {
            _ = book.title
        } onChange: {
            changes.count += 1
        }
        book.managedObject?.setValue("x", forKey: "title")
        #expect(changes.count == 1)
    }

    @Test("objects that a request finds are models again by their identifiers")
    func requests() throws {
        let context = ModelContext(try Shelf().container)
        let objects = try #require(context.managedObjectContext)
        try context.book("novel 3")?.pages = 5
        let request = NSFetchRequest<NSManagedObject>(entityName: "Genre")
        request.predicate = NSPredicate(
            format: "SUBQUERY(books, $b, $b.pages >= %d).@count > 0", 200)
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        let models = try objects.fetch(request).compactMap { object in
            object.objectID.persistentIdentifier.flatMap { context.model(for: $0) as? Genre }
        }
        #expect(models.map(\.name) == ["novel", "poem"])
        let genre = try #require(models.first?.managedObject)
        let books = NSFetchRequest<NSManagedObject>(entityName: "Book")
        books.predicate = NSPredicate(format: "genre == %@ AND pages == 5", genre)
        #expect(
            try objects.fetch(books).map { $0.value(forKey: "title") as? String } == ["novel 3"])
        let counts = NSFetchRequest<NSFetchRequestResult>(entityName: "Book")
        counts.resultType = .dictionaryResultType
        counts.propertiesToGroupBy = ["genre.name"]
        let count = NSExpressionDescription()
        count.name = "count"
        count.expression = NSExpression(
            forFunction: "count:", arguments: [NSExpression(forKeyPath: "title")])
        count.expressionResultType = .integer64AttributeType
        counts.propertiesToFetch = ["genre.name", count]
        let rows = try #require(try objects.fetch(counts) as? [[String: Any]])
        let found = Dictionary(
            uniqueKeysWithValues: rows.map {
                ($0["genre.name"] as? String ?? "", $0["count"] as? Int ?? 0)
            })
        #expect(found == ["novel": 3, "poem": 2, "play": 1])
    }

    @Test("identifiers and URIs lead from one to the other, also to another container")
    func identifiers() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let url = folder.appending(path: "shelf.store")
        let shelf = try Shelf(ModelConfiguration(url: url))
        let context = ModelContext(shelf.container)
        let book = try #require(try context.book("novel 1"))
        let uri = try #require(book.persistentModelID.uriRepresentation)
        #expect(uri == book.objectID?.uriRepresentation())
        #expect(uri.persistentIdentifier == book.persistentModelID)
        #expect(book.persistentModelID.objectID == book.objectID)
        #expect(!book.persistentModelID.isTemporary)
        #expect(Book(title: "x").persistentModelID.isTemporary)
        for text in ["https://example.org", "x-coredata://a/b/c", "x-coredata:///Book/t"] {
            #expect(URL(string: text)?.persistentIdentifier == nil)
        }
        // A stack of Core Data alone on the same file.
        let model = try #require(context.objectModel)
        #expect(model.entitiesByName.keys.sorted() == ["Book", "Genre"])
        let coordinator = try #require(shelf.container.coordinator)
        #expect(coordinator === context.coordinator)
        let identifier = try #require(coordinator.managedObjectID(forURIRepresentation: uri))
        #expect(identifier == book.objectID && identifier.entity.attributesByName.count == 4)
        #expect(
            identifier.entity.attributesByName["pages"]?.attributeType == .integer64AttributeType)
        let alone = NSPersistentContainer(name: "Alone", managedObjectModel: model)
        alone.persistentStoreDescriptions = [NSPersistentStoreDescription(url: url)]
        var failure: (any Error)?
        alone.loadPersistentStores { _, error in failure = error }
        #expect(failure == nil)
        let same = try alone.viewContext.existingObject(with: identifier)
        #expect(same.value(forKey: "title") as? String == "novel 1")
    }

    @Test("a Core Data context of the same stores and a model context see each other's saves")
    func contexts() throws {
        let context = ModelContext(try Shelf().container)
        let book = try #require(try context.book("novel 1"))
        let other = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        other.persistentStoreCoordinator = context.coordinator
        let same = try other.existingObject(with: try #require(book.objectID))
        same.setValue(77, forKey: "pages")
        try other.save()
        #expect(try context.book("novel 1")?.pages == 77)
        #expect(other.persistentStoreCoordinator === context.coordinator)
        let made = NSEntityDescription.insertNewObject(forEntityName: "Genre", into: other)
        made.setValue("essay", forKey: "name")
        try other.save()
        #expect(try context.fetchCount(FetchDescriptor<Genre>()) == 4)
    }

    @Test("contexts of an actor have managed objects as well")
    func actors() async throws {
        let counter = Counter(modelContainer: try Shelf().container)
        #expect(try await counter.count(longerThan: 150) == 3)
    }

    @MainActor @Test("the main context has a managed object context of the main queue")
    func main() throws {
        let shelf = try Shelf()
        let objects = try #require(shelf.container.mainContext.managedObjectContext)
        #expect(objects.concurrencyType == .mainQueueConcurrencyType)
        #expect(objects.performAndWait { objects.hasChanges } == false)
    }
}

@ModelActor
actor Counter {
    func count(longerThan pages: Int) throws -> Int {
        guard let objects = modelContext.managedObjectContext else { return 0 }
        let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
        request.predicate = NSPredicate(format: "pages > %d", pages)
        return try objects.count(for: request)
    }
}

/// Sendable unchecked: observers are called on the thread of the change.
private final class Changes: @unchecked Sendable {
    var count = 0
}
