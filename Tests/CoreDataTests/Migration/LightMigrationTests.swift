import CoreData
import Testing

/// A store that is opened with a later model is migrated without a mapping.
@Suite("Light migrations")
struct LightMigrationTests {
    private let folder: ContainerTests.Folder

    init() throws { folder = try ContainerTests.Folder() }

    private func open(
        _ change: (NSEntityDescription) -> Void,
        _ describe: (NSPersistentStoreDescription) -> Void = { _ in }
    ) throws -> NSManagedObjectContext {
        let note = NSEntityDescription()
        note.name = "Note"
        note.properties = [
            Library.attribute("text", .stringAttributeType),
            Library.attribute("count", .stringAttributeType),
        ]
        change(note)
        let model = NSManagedObjectModel()
        model.entities = [note]
        let container = NSPersistentContainer(name: "Notes", managedObjectModel: model)
        let description = NSPersistentStoreDescription(
            url: folder.url.appending(path: "notes.store"))
        describe(description)
        container.persistentStoreDescriptions = [description]
        var failure: (any Error)?
        container.loadPersistentStores { _, error in failure = error }
        if let failure { throw failure }
        return container.newBackgroundContext()
    }

    private func fill(_ counts: [String]) throws {
        let context = try open { _ in }
        for count in counts {
            let note = NSEntityDescription.insertNewObject(forEntityName: "Note", into: context)
            note.setValue("note \(count)", forKey: "text")
            note.setValue(count, forKey: "count")
        }
        try context.save()
    }

    private func values(_ context: NSManagedObjectContext, _ name: String) throws -> [String] {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
        return try context.fetch(request).map { "\($0.value(forKey: name) ?? "nil")" }.sorted()
    }

    @Test(
        "renamed, added, converted and required attributes keep the values or get the default",
        arguments: [true, false])
    func changes(_ namesOptions: Bool) throws {
        try fill(["1", "22"])
        let context = try open { note in
            let words = Library.attribute("words", .stringAttributeType)
            words.renamingIdentifier = "text"
            note.properties = [
                words, Library.attribute("count", .integer64AttributeType, isOptional: false, 0),
                Library.attribute("isRead", .booleanAttributeType, isOptional: false, false),
                Library.attribute("date", .dateAttributeType),
            ]
        } _: { description in
            guard namesOptions else { return }
            description.shouldMigrateStoreAutomatically = true
            description.shouldInferMappingModelAutomatically = true
        }
        #expect(try values(context, "words") == ["note 1", "note 22"])
        #expect(try values(context, "count") == ["1", "22"])
        #expect(try values(context, "isRead") == ["0", "0"])
        #expect(try values(context, "date") == ["nil", "nil"])
        let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
        request.predicate = NSPredicate(format: "count > 20")
        #expect(try context.count(for: request) == 1)
    }

    @Test("a change that cannot be inferred is an error that says where, and the store stays")
    func refusals() throws {
        try fill(["1", "many"])
        for (change, name) in [
            // The object whose value is no number.
            ({ $0.properties = [Library.attribute("count", .integer64AttributeType)] }, "Note/p2"),
            (
                {
                    $0.properties.append(
                        Library.attribute("size", .integer64AttributeType, isOptional: false))
                }, "size"
            ),
        ] as [((NSEntityDescription) -> Void, String)] {
            let error = #expect(throws: NSError.self) { try open(change) }
            #expect(error?.domain == NSCocoaErrorDomain)
            let text = error?.localizedDescription ?? ""
            #expect(text.contains(name), "\(text)")
        }
        #expect(try values(open { _ in }, "count") == ["1", "many"])
    }

    @Test("options that forbid a migration are errors, and the store stays as it was")
    func options() throws {
        try fill(["1"])
        let options = [
            NSMigratePersistentStoresAutomaticallyOption, NSInferMappingModelAutomaticallyOption,
        ]
        for option in options {
            let error = #expect(throws: NSError.self) {
                try open {
                    $0.properties.append(Library.attribute("size", .integer64AttributeType))
                } _: {
                    $0.setOption(NSNumber(value: false), forKey: option)
                }
            }
            #expect(error?.localizedDescription.contains(option) == true)
        }
        #expect(try values(open { _ in }, "count") == ["1"])
    }
}
