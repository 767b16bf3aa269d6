import CoreData
import Foundation

/// The notes in Core Data's words. Its model is made in code, without the class of SwiftData.
final class ManagedNotes: Notes {
    let announced = Counter(.NSPersistentStoreRemoteChange)
    private let container: NSPersistentContainer
    private let context: NSManagedObjectContext
    private var kept: [NSManagedObject] = []

    init(at url: URL) throws {
        let note = NSEntityDescription()
        note.name = "Note"
        let (name, pages) = (NSAttributeDescription(), NSAttributeDescription())
        name.name = "name"
        name.attributeType = .stringAttributeType
        name.isOptional = false
        pages.name = "pages"
        pages.attributeType = .integer64AttributeType
        pages.isOptional = false
        pages.defaultValue = 0
        note.properties = [name, pages]
        let model = NSManagedObjectModel()
        model.entities = [note]
        container = NSPersistentContainer(name: "Notes", managedObjectModel: model)
        let description = NSPersistentStoreDescription(url: url)
        description.setOption(
            NSNumber(value: true), forKey: NSPersistentStoreRemoteChangeNotificationPostOptionKey)
        container.persistentStoreDescriptions = [description]
        var failure: (any Error)?
        container.loadPersistentStores { _, error in failure = error }
        if let failure { throw failure }
        context = container.newBackgroundContext()
        context.transactionAuthor = "coredata"
        context.automaticallyMergesChangesFromParent = true
    }

    private func request(_ name: String? = nil) -> NSFetchRequest<NSManagedObject> {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
        request.predicate = name.map { NSPredicate(format: "name == %@", $0) }
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        return request
    }

    private func fetch(_ name: String) throws -> NSManagedObject {
        guard let note = try context.fetch(request(name)).first else {
            throw UnknownNote(name: name)
        }
        return note
    }

    func insert(_ name: String) throws -> String {
        try context.performAndWait {
            let note = NSEntityDescription.insertNewObject(forEntityName: "Note", into: context)
            note.setValue(name, forKey: "name")
            try context.save()
            return note.objectID.uriRepresentation().absoluteString
        }
    }

    func set(_ name: String, _ pages: Int) throws {
        try context.performAndWait {
            try fetch(name).setValue(pages, forKey: "pages")
            try context.save()
        }
    }

    func delete(_ name: String) throws {
        try context.performAndWait {
            context.delete(try fetch(name))
            try context.save()
        }
    }

    func list() throws -> String {
        try context.performAndWait { try context.fetch(request()).map(text).joined(separator: " ") }
    }

    private func text(_ note: NSManagedObject) -> String {
        let name = note.value(forKey: "name") as? String ?? ""
        return "\(name):\(note.value(forKey: "pages") as? Int ?? -1)"
    }

    func hold() throws -> Int {
        try context.performAndWait {
            kept = try context.fetch(request())
            return kept.count
        }
    }

    func held() -> String {
        context.performAndWait {
            context.processPendingChanges()
            return kept.map { $0.isDeleted ? "gone" : text($0) }.joined(separator: " ")
        }
    }

    func title(at uri: URL) throws -> String? {
        guard
            let identifier = container.persistentStoreCoordinator.managedObjectID(
                forURIRepresentation: uri)
        else { return nil }
        return try context.performAndWait {
            try context.existingObject(with: identifier).value(forKey: "name") as? String
        }
    }

    func history() throws -> String {
        try context.performAndWait {
            let request = NSPersistentHistoryChangeRequest.fetchHistory(after: nil)
            let result = try context.execute(request) as? NSPersistentHistoryResult
            let transactions = result?.result as? [NSPersistentHistoryTransaction] ?? []
            return transactions.map { saved in
                let kinds = (saved.changes ?? []).map { "\($0.changeType)" }
                return "\(saved.author ?? "nobody"):\(kinds.joined(separator: "+"))"
            }.joined(separator: " ")
        }
    }
}
