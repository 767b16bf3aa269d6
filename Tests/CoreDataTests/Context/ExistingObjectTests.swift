import Testing

@testable import CoreData

@Suite("Existing objects")
struct ExistingObjectTests {
    /// Sendable unchecked: it is used on the thread that saves.
    private final class Found: @unchecked Sendable {
        var context: NSManagedObjectContext?
        var object: Article?
        var exists: [Bool] = []

        func look() {
            guard let context, let object else { return }
            exists.append((try? context.existingObject(with: object.objectID)) != nil)
        }
    }

    @Test("an object that others have deleted does not exist before the context learns of that")
    func deleted() throws {
        let saving = try Library.filled()
        let coordinator = try #require(saving.persistentStoreCoordinator)
        let found = Found()
        // It is called before the observer of a context that is made later.
        let observation = coordinator.persistentStores[0].store.observeCommits { _ in found.look() }
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        found.object = try context.article("Ann")
        found.context = context
        found.look()
        saving.delete(try saving.article("Ann"))
        try saving.save()
        found.look()
        #expect(found.exists == [true, false, false])
        #expect(found.object?.title == "Ann")
        withExtendedLifetime(observation) {}
    }
}
