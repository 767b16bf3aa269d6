import CoreData
import TestSupport
import Testing

/// Stores that other processes serve, or use at the same time.
@Suite("Containers of several processes")
struct ProcessTests {
    private let folder: ContainerTests.Folder

    init() throws { folder = try ContainerTests.Folder() }

    /// The model of the store that an `ObjectStoreProcess` has.
    private func container(
        _ url: URL, postsChanges: Bool = false
    ) throws -> NSPersistentContainer {
        let entry = NSEntityDescription()
        entry.name = "Entry"
        entry.properties = [
            Library.attribute("name", .stringAttributeType, isOptional: false),
            Library.attribute("count", .integer64AttributeType, isOptional: false, 0),
            Library.attribute("text", .stringAttributeType),
        ]
        let model = NSManagedObjectModel()
        model.entities = [entry]
        let container = NSPersistentContainer(name: "Entries", managedObjectModel: model)
        let description = NSPersistentStoreDescription(url: url)
        description.setOption(
            NSNumber(value: postsChanges),
            forKey: NSPersistentStoreRemoteChangeNotificationPostOptionKey)
        container.persistentStoreDescriptions = [description]
        var failure: (any Error)?
        container.loadPersistentStores { _, error in failure = error }
        if let failure { throw failure }
        return container
    }

    private func names(_ context: NSManagedObjectContext) throws -> [String] {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Entry")
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        return try context.fetch(request).map { $0.value(forKey: "name") as? String ?? "" }
    }

    @Test("two processes see each other's saves in one file, and each commit is announced")
    func files() async throws {
        let url = folder.url.appending(path: "entries.store")
        let process = try StoreProcess(opening: url.path)
        #expect(try process("insert Ann") == "saved")
        let container = try container(url, postsChanges: true)
        let context = container.newBackgroundContext()
        #expect(try names(context) == ["Ann"])
        let start = container.persistentStoreCoordinator.currentPersistentHistoryToken(
            fromStores: nil)
        let changes = NotificationCenter.default.notifications(
            of: container.persistentStoreCoordinator)
        #expect(try process("insert Bob") == "saved")
        for await _ in changes { break }
        #expect(try names(context) == ["Ann", "Bob"])
        let request = NSPersistentHistoryChangeRequest.fetchHistory(after: start)
        request.resultType = .objectIDs
        let result = try context.execute(request) as? NSPersistentHistoryResult
        let identifiers = try #require(result?.result as? [NSManagedObjectID])
        #expect(
            identifiers.map { context.object(with: $0).value(forKey: "name") as? String } == ["Bob"]
        )
        let entry = NSEntityDescription.insertNewObject(forEntityName: "Entry", into: context)
        entry.setValue("Cleo", forKey: "name")
        try context.save()
        #expect(try process("names").hasPrefix("3 3 "))
    }

    @Test("a controller of a context that follows others sees what another process saves")
    func controllers() async throws {
        let url = folder.url.appending(path: "shown.store")
        let process = try StoreProcess(opening: url.path)
        #expect(try process("insert Ann") == "saved")
        let context = try container(url).newBackgroundContext()
        context.automaticallyMergesChangesFromParent = true
        let request = NSFetchRequest<NSManagedObject>(entityName: "Entry")
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        let controller = NSFetchedResultsController(
            fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: "name",
            cacheName: nil)
        let recorder = try context.performAndWait {
            try controller.performFetch()
            return ResultsRecorder(controller)
        }
        await withCheckedContinuation { continuation in
            recorder.didChange = {
                recorder.didChange = {}
                continuation.resume()
            }
            #expect(throws: Never.self) { try process("insert Bob") }
        }
        #expect(recorder.take() == ["will", "insert section Bob 1", "insert  to 1.0", "did"])
    }

    @Test("a container uses the store of a server by the path of its socket")
    func sockets() throws {
        let schema = folder.url.appending(path: "schema.json")
        let text = """
            { "version": "1.0.0", "entities": [ { "name": "Entry", "attributes": [
                { "name": "name", "type": "string" },
                { "name": "count", "type": "int64", "default": 0 },
                { "name": "text", "type": "string", "optional": true } ] } ] }
            """
        try text.write(to: schema, atomically: true, encoding: .utf8)
        let socket = folder.url.appending(path: "entries.socket")
        let server = try StoreProcess(
            "larderd",
            [
                "--store", folder.url.appending(path: "served.store").path, "--schema", schema.path,
                "--socket", socket.path,
            ], reading: true)
        while try !server.line().contains(socket.path) {}
        let context = try container(socket).newBackgroundContext()
        for name in ["Bob", "Ann"] {
            let entry = NSEntityDescription.insertNewObject(forEntityName: "Entry", into: context)
            entry.setValue(name, forKey: "name")
        }
        try context.save()
        #expect(try names(context) == ["Ann", "Bob"])
        let update = NSBatchUpdateRequest(entityName: "Entry")
        update.propertiesToUpdate = ["count": NSExpression(format: "length(name) + 1")]
        update.resultType = .updatedObjectsCountResultType
        #expect((try context.execute(update) as? NSBatchUpdateResult)?.result as? Int == 2)
    }
}

extension NotificationCenter {
    /// The announcements of commits, from now on.
    fileprivate func notifications(
        of coordinator: NSPersistentStoreCoordinator
    ) -> AsyncStream<Void> {
        AsyncStream { continuation in
            let token = Unchecked(
                addObserver(
                    forName: .NSPersistentStoreRemoteChange, object: coordinator, queue: nil
                ) { _ in continuation.yield() })
            continuation.onTermination = { _ in
                NotificationCenter.default.removeObserver(token.value)
            }
        }
    }
}
