import CoreData
import Testing

@Suite("Staged migrations")
struct StagedMigrationTests {
    private let folder: ContainerTests.Folder

    init() throws { folder = try ContainerTests.Folder() }

    /// A version of a model whose entity has texts, numbers of words, or both.
    private func model(_ names: [String]) -> NSManagedObjectModel {
        let note = NSEntityDescription()
        note.name = "Note"
        note.properties = names.map { name in
            Library.attribute(name, name == "text" ? .stringAttributeType : .integer64AttributeType)
        }
        let model = NSManagedObjectModel()
        model.entities = [note]
        return model
    }

    private func open(
        _ model: NSManagedObjectModel, _ manager: NSStagedMigrationManager? = nil
    ) throws -> NSManagedObjectContext {
        let container = NSPersistentContainer(name: "Notes", managedObjectModel: model)
        let description = NSPersistentStoreDescription(
            url: folder.url.appending(path: "notes.store"))
        description.setOption(manager, forKey: NSPersistentStoreStagedMigrationManagerOptionKey)
        container.persistentStoreDescriptions = [description]
        var failure: (any Error)?
        container.loadPersistentStores { _, error in failure = error }
        if let failure { throw failure }
        return container.newBackgroundContext()
    }

    private func reference(_ model: NSManagedObjectModel) -> NSManagedObjectModelReference {
        NSManagedObjectModelReference(model: model, versionChecksum: model.versionChecksum)
    }

    private let notes = NSFetchRequest<NSManagedObject>(entityName: "Note")

    @Test("a stage with code reads the store before its migration and completes it after that")
    func stages() throws {
        let (first, second, third) = (
            model(["text"]), model(["text", "words"]), model(["words"])
        )
        var context: NSManagedObjectContext? = try open(first)
        for text in ["one", "two words"] {
            let note = NSEntityDescription.insertNewObject(
                forEntityName: "Note", into: try #require(context))
            note.setValue(text, forKey: "text")
        }
        try context?.save()
        context = nil
        let calls = Calls()
        let stage = NSCustomMigrationStage(
            migratingFrom: reference(first), to: reference(second))
        stage.label = "words"
        stage.willMigrateHandler = { manager, stage in
            let context = try #require(manager.container).newBackgroundContext()
            let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
            calls.add("\(stage.label ?? "") \(try context.count(for: request))")
        }
        stage.didMigrateHandler = { manager, stage in
            let context = try #require(manager.container).newBackgroundContext()
            let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
            for note in try context.fetch(request) {
                let text = note.value(forKey: "text") as? String ?? ""
                note.setValue(text.split(separator: " ").count, forKey: "words")
            }
            try context.save()
        }
        let manager = NSStagedMigrationManager([
            stage,
            NSLightweightMigrationStage([second.versionChecksum, third.versionChecksum]),
        ])
        let migrated = try open(third, manager)
        let words = try migrated.fetch(notes).compactMap { $0.value(forKey: "words") as? Int }
        #expect(words.sorted() == [1, 2] && calls.all == ["words 2"])
        #expect(manager.container == nil)
    }

    @Test("a handler that throws leaves the store as it was")
    func failures() throws {
        let (first, second) = (model(["text"]), model(["text", "words"]))
        var context: NSManagedObjectContext? = try open(first)
        _ = NSEntityDescription.insertNewObject(
            forEntityName: "Note", into: try #require(context))
        try context?.save()
        context = nil
        let stage = NSCustomMigrationStage(
            migratingFrom: reference(first), to: reference(second))
        stage.didMigrateHandler = { _, _ in throw NSError(domain: NSCocoaErrorDomain, code: 77) }
        let error = #expect(throws: NSError.self) {
            try open(second, NSStagedMigrationManager([stage]))
        }
        #expect(error?.code == 77)
        #expect(try open(first).count(for: notes) == 1)
    }

    @Test("versions that are unknown, or have another checksum, are errors")
    func mistakes() throws {
        let (first, second) = (model(["text"]), model(["text", "words"]))
        #expect(first.versionChecksum != second.versionChecksum)
        #expect(first.versionChecksum == model(["text"]).versionChecksum)
        let unknown = NSLightweightMigrationStage(["nothing", second.versionChecksum])
        let wrong = NSCustomMigrationStage(
            migratingFrom: NSManagedObjectModelReference(model: first, versionChecksum: "x"),
            to: reference(second))
        let missing = NSCustomMigrationStage(
            migratingFrom: NSManagedObjectModelReference(
                fileURL: folder.url.appending(path: "none.xcdatamodel"), versionChecksum: "x"),
            to: reference(second))
        for stage in [unknown, wrong, missing] as [NSMigrationStage] {
            let error = #expect(throws: NSError.self) {
                try open(second, NSStagedMigrationManager([stage]))
            }
            #expect(error?.code == NSManagedObjectModelReferenceNotFoundError)
        }
        let backward = NSCustomMigrationStage(
            migratingFrom: reference(second), to: reference(second))
        #expect(throws: NSError.self) { try open(second, NSStagedMigrationManager([backward])) }
        #expect(try open(second, NSStagedMigrationManager([])).count(for: notes) == 0)
    }
}

/// Sendable unchecked: the handlers run on the thread that opens the store.
private final class Calls: @unchecked Sendable {
    private(set) var all: [String] = []
    func add(_ call: String) { all.append(call) }
}
