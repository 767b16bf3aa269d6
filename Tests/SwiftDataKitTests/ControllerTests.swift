import CoreData
import Foundation
import SwiftData
import SwiftDataKit
import Testing

@Suite("Controllers and child contexts of model contexts")
struct ControllerTests {
    private func controller(
        _ context: NSManagedObjectContext
    ) throws -> NSFetchedResultsController<NSManagedObject> {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
        request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
        let controller = NSFetchedResultsController(
            fetchRequest: request, managedObjectContext: context,
            sectionNameKeyPath: "genre.name", cacheName: nil)
        try controller.performFetch()
        return controller
    }

    @Test("a controller sees changes of models when they are processed or saved")
    func changes() throws {
        let context = ModelContext(try Shelf().container)
        let objects = try #require(context.managedObjectContext)
        let controller = try controller(objects)
        #expect(controller.sections?.map(\.name) == ["novel", "play", "poem"])
        let recorder = Recorder()
        controller.delegate = recorder
        let book = try #require(try context.book("novel 1"))
        book.pages = 7
        context.delete(try #require(try context.book("play 1")))
        context.processPendingChanges()
        #expect(recorder.calls == ["delete section 1", "delete 1.0", "update 0.0"])
        #expect(controller.object(at: IndexPath(row: 0, section: 0)) === book.managedObject)
        recorder.calls = []
        context.insert(Book(title: "a", genre: book.genre))
        try context.save()
        #expect(recorder.calls == ["insert 0.0"])
        recorder.calls = []
        book.managedObject?.setValue("z", forKey: "title")
        objects.processPendingChanges()
        #expect(recorder.calls == ["move 0.1 to 0.3"])
        context.rollback()
        #expect(controller.fetchedObjects?.first?.value(forKey: "title") as? String == "a")
    }

    @MainActor @Test("a controller of the main context sees a change of a model after its turn")
    func main() async throws {
        let shelf = try Shelf()
        let objects = try #require(shelf.container.mainContext.managedObjectContext)
        let controller = try controller(objects)
        let recorder = Recorder()
        controller.delegate = recorder
        let book = try #require(try shelf.container.mainContext.book("novel 1"))
        await withCheckedContinuation { continuation in
            recorder.didChange = { continuation.resume() }
            book.pages = 9
        }
        #expect(recorder.calls == ["update 0.0"])
    }

    @Test("a child of the context of models saves to the models")
    func children() throws {
        let context = ModelContext(try Shelf().container)
        let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        child.parent = context.managedObjectContext
        let book = try #require(try context.book("novel 1"))
        let same = try child.existingObject(with: try #require(book.objectID))
        same.setValue(5, forKey: "pages")
        let new = NSEntityDescription.insertNewObject(forEntityName: "Genre", into: child)
        new.setValue("essay", forKey: "name")
        same.setValue(new, forKey: "genre")
        #expect(book.pages == 100 && book.genre?.name == "novel")
        try child.save()
        #expect(book.pages == 5 && book.genre?.name == "essay" && context.hasChanges)
        try context.save()
        #expect(!new.objectID.isTemporaryID && new.objectID == book.genre?.objectID)
    }
}

/// Sendable unchecked: a test reads it after the changes are processed.
private final class Recorder: NSFetchedResultsControllerDelegate, @unchecked Sendable {
    var calls: [String] = []
    var didChange: () -> Void = {}

    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChange anObject: Any, at indexPath: IndexPath?, for type: NSFetchedResultsChangeType,
        newIndexPath: IndexPath?
    ) {
        let paths = [indexPath, type == .update ? nil : newIndexPath].compactMap { $0 }
        let texts = paths.map { "\($0.section).\($0.row)" }
        calls.append("\(type) \(texts.joined(separator: " to "))")
    }

    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChange sectionInfo: any NSFetchedResultsSectionInfo, atSectionIndex sectionIndex: Int,
        for type: NSFetchedResultsChangeType
    ) {
        calls.append("\(type) section \(sectionIndex)")
    }

    func controllerDidChangeContent(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>
    ) { didChange() }
}
