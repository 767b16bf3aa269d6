import CoreData
import Testing

@Suite("Persistent containers")
struct ContainerTests {
    /// A folder that is removed with the object.
    final class Folder: Sendable {
        let url = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)

        init() throws {
            try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        }

        deinit { try? FileManager.default.removeItem(at: url) }
    }

    @Test("a store in a file has its objects when it is opened again, by the same identifiers")
    func files() throws {
        let folder = try Folder()
        let url = folder.url.appending(path: "deep/library.sqlite")
        let uri: URL
        do {
            let container = try Library.container { $0.url = url }
            try Library.fill(container.viewContext)
            uri = try container.viewContext.article("Ann").objectID.uriRepresentation()
        }
        let container = try Library.container { $0.url = url }
        let coordinator = container.persistentStoreCoordinator
        let identifier = try #require(coordinator.managedObjectID(forURIRepresentation: uri))
        #expect(identifier.uriRepresentation() == uri && !identifier.isTemporaryID)
        let ann = try container.viewContext.existingObject(with: identifier)
        #expect(ann.value(forKey: "title") as? String == "Ann")
        let store = try #require(coordinator.persistentStore(for: url))
        #expect(uri.absoluteString.contains(store.identifier) && store.type == NSSQLiteStoreType)
        #expect(!store.isReadOnly && store.url == url && store.configurationName == "")
        let reader = try Library.container {
            $0.url = url
            $0.isReadOnly = true
        }
        let copy = try #require(try reader.viewContext.existingObject(with: identifier) as? Article)
        copy.title = "x"
        #expect(throws: NSError.self) { try reader.viewContext.save() }
    }

    @Test(
        "a URI that is none, and one of an unknown store or entity, has no identifier",
        arguments: [
            "", "x", "https://example.org", "x-coredata://", "x-coredata://x/Article/p1",
            "x-coredata:///Article/t1", "x-coredata://STORE/Nothing/p1",
            "x-coredata://STORE/Article/p0", "x-coredata://STORE/Article/q1",
            "x-coredata://STORE/Article/p1/2", "x-coredata://STORE/Article/p99999999999999999999",
            "x-coredata://00000000-0000-0000-0000-000000000000/Article/p1",
        ])
    func uris(_ text: String) throws {
        let coordinator = try #require(try Library.filled().persistentStoreCoordinator)
        let store = coordinator.persistentStores[0].identifier
        guard let url = URL(string: text.replacing("STORE", with: store)) else { return }
        #expect(coordinator.managedObjectID(forURIRepresentation: url) == nil)
    }

    @Test("a description that no store has is an error")
    func mistakes() throws {
        let folder = try Folder()
        let changes: [(NSPersistentStoreDescription) -> Void] = [
            { $0.type = "XML" }, { $0.url = nil }, { $0.url = URL(string: "https://example.org") },
            { $0.url = folder.url }, { $0.configuration = "Nothing" },
            { $0.shouldMigrateStoreAutomatically = false },
            { $0.shouldInferMappingModelAutomatically = false },
            { $0.setOption(NSNumber(value: false), forKey: NSPersistentHistoryTrackingKey) },
            {
                $0.url = folder.url.appending(path: "missing.sqlite")
                $0.isReadOnly = true
            },
        ]
        for (index, change) in changes.enumerated() {
            #expect(throws: NSError.self, "\(index)") { try Library.container(change) }
        }
        let description = NSPersistentStoreDescription()
        #expect(description.shouldMigrateStoreAutomatically && description.timeout == 10)
        #expect(description.shouldInferMappingModelAutomatically && !description.isReadOnly)
        description.timeout = .nan
        description.url = URL(filePath: "/dev/null")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Library.model())
        coordinator.addPersistentStore(with: description) { _, error in #expect(error == nil) }
        #expect(coordinator.persistentStores[0].type == NSInMemoryStoreType)
        let container = NSPersistentContainer(name: "x", managedObjectModel: Library.model())
        let parent = container.persistentStoreDescriptions[0].url?.deletingLastPathComponent()
        #expect(NSPersistentContainer.defaultDirectoryURL().path == parent?.path)
    }

    @Test("the entities of configurations are in several stores")
    func configurations() throws {
        let model = NSManagedObjectModel()
        let (left, right) = (NSEntityDescription(), NSEntityDescription())
        (left.name, right.name) = ("Left", "Right")
        left.properties = [Library.attribute("name", .stringAttributeType)]
        right.properties = [Library.attribute("name", .stringAttributeType)]
        model.entities = [left, right]
        model.setEntities([left], forConfigurationName: "one")
        model.setEntities([right], forConfigurationName: "two")
        #expect(model.configurations == ["one", "two"])
        #expect(model.entities(forConfigurationName: "two") == [right])
        #expect(model.entities(forConfigurationName: nil)?.count == 2)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        for name in ["one", "two"] {
            try coordinator.addPersistentStore(
                ofType: NSInMemoryStoreType, configurationName: name, at: nil,
                options: [NSReadOnlyPersistentStoreOption: false])
        }
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        let objects = ["Left", "Right"].map {
            NSEntityDescription.insertNewObject(forEntityName: $0, into: context)
        }
        try context.save()
        let stores = objects.map { $0.objectID.uriRepresentation().host() }
        #expect(stores[0] != stores[1])
    }

    @Test("a commit of any context is announced if the description says so")
    func remoteChanges() async throws {
        let container = try Library.container {
            $0.type = NSInMemoryStoreType
            $0.setOption(
                NSNumber(value: true),
                forKey: NSPersistentStoreRemoteChangeNotificationPostOptionKey)
        }
        let coordinator = container.persistentStoreCoordinator
        await confirmation { confirm in
            await withCheckedContinuation { continuation in
                let token = NotificationCenter.default.addObserver(
                    forName: .NSPersistentStoreRemoteChange, object: coordinator, queue: nil
                ) { _ in
                    confirm()
                    continuation.resume()
                }
                Tokens.shared.keep(token)
                let context = container.newBackgroundContext()
                let category = Category(context: context)
                category.name = "x"
                #expect(throws: Never.self) { try context.save() }
            }
        }
    }
}

/// Sendable unchecked: it is under a lock.
private final class Tokens: @unchecked Sendable {
    static let shared = Tokens()
    private let lock = NSLock()
    private var all: [Any] = []
    func keep(_ token: Any) { lock.withLock { all.append(token) } }
}
