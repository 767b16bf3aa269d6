import Foundation
import SwiftData
import Testing

@Suite("Configurations, as documented")
struct ConfigurationConformanceTests {
    private static func isHashableAndSendable<T: Hashable & Sendable & Identifiable>(
        _ value: T
    ) -> Bool { Set([value, value]).count == 1 }

    @Test("a configuration without arguments is the file default.store of the program")
    func standard() {
        let configuration = ModelConfiguration()
        #expect(configuration.name == "default")
        #expect(configuration.url.lastPathComponent == "default.store")
        #expect(configuration.url.path.hasPrefix("/"))
        #expect(configuration.allowsSave)
        #expect(!configuration.isStoredInMemoryOnly)
        #expect(configuration.schema == nil)
        #expect(configuration.groupAppContainerIdentifier == nil)
        #expect(configuration.cloudKitContainerIdentifier == nil)
        let identifier: ModelConfiguration.ID = configuration.id
        #expect(identifier == configuration.url)
        #expect(Self.isHashableAndSendable(configuration))
        #expect(configuration == ModelConfiguration(isStoredInMemoryOnly: false))
        #expect(configuration != ModelConfiguration(isStoredInMemoryOnly: true))
    }

    @Test("the name of a configuration is that of its file, without the extension")
    func name() {
        let configuration = ModelConfiguration("notes")
        #expect(configuration.name == "notes")
        #expect(configuration.url.lastPathComponent == "notes.store")
        #expect(
            configuration.url.deletingLastPathComponent()
                == ModelConfiguration().url.deletingLastPathComponent())
    }

    @Test("a configuration in memory has no file")
    func inMemory() {
        let configuration = ModelConfiguration(isStoredInMemoryOnly: true)
        #expect(configuration.isStoredInMemoryOnly)
        #expect(configuration.url.path == "/dev/null")
        #expect(configuration.debugDescription.contains("in memory"))
    }

    @Test("a configuration for model types has their schema")
    func types() throws {
        let configuration = ModelConfiguration(
            for: Article.self, Note.self, isStoredInMemoryOnly: true)
        let schema = try #require(configuration.schema)
        #expect(schema.entitiesByName["Article"] != nil)
        #expect(schema.entity(for: Note.self)?.name == "Note")
    }

    @Test("every argument of a configuration's initializers is a property")
    func arguments() {
        let schema = Schema([Article.self])
        let one = ModelConfiguration(
            "one", schema: schema, isStoredInMemoryOnly: false, allowsSave: false,
            groupContainer: .identifier("group.org.example"),
            cloudKitDatabase: .private("iCloud.org.example"))
        #expect(one.name == "one")
        #expect(one.schema == schema)
        #expect(!one.allowsSave)
        #expect(one.groupAppContainerIdentifier == "group.org.example")
        #expect(one.cloudKitContainerIdentifier == "iCloud.org.example")
        #expect(one.debugDescription.contains("one"))
        let url = URL(filePath: "/tmp/places/two.sqlite")
        let two = ModelConfiguration(
            schema: schema, url: url, allowsSave: true, cloudKitDatabase: .none)
        #expect(two.name == "two")
        #expect(two.url == url)
        #expect(two.allowsSave)
        #expect(two.cloudKitContainerIdentifier == nil)
        #expect(ModelConfiguration("named", url: url).name == "named")
    }

    @Test("the store of an app group is in a folder with the name of the group")
    func group() {
        typealias GroupContainer = ModelConfiguration.GroupContainer
        let group = GroupContainer.identifier("group.org.example")
        let configuration = ModelConfiguration("notes", groupContainer: group)
        #expect(configuration.url.pathComponents.suffix(2) == ["group.org.example", "notes.store"])
        #expect(
            ModelConfiguration("notes", groupContainer: .none).groupAppContainerIdentifier == nil)
        #expect(
            ModelConfiguration("notes", groupContainer: .automatic).url
                == ModelConfiguration("notes").url)
    }

    @Test("a configuration's name that cannot be that of a file is an error")
    func validation() throws {
        let long = ModelConfiguration(String(repeating: "a", count: 300))
        #expect(throws: SwiftDataError.configurationFileNameTooLong) { try long.validate() }
        for name in ["a/b", "", ".", "..", "a\0"] {
            let configuration = ModelConfiguration(name)
            #expect(throws: SwiftDataError.configurationFileNameContainsInvalidCharacters) {
                try ModelContainer(for: Note.self, configurations: configuration)
            }
        }
        #expect(throws: Never.self) { try ModelConfiguration("a b.c").validate() }
    }

    @Test("the store type of a configuration is DefaultStore")
    func storeType() throws {
        #expect(ModelConfiguration.Store.self == DefaultStore.self)
        let configuration = ModelConfiguration(for: Note.self, isStoredInMemoryOnly: true)
        let store = try DefaultStore(configuration)
        #expect(store.name == configuration.name)
        #expect(UUID(uuidString: store.identifier) != nil)
        #expect(throws: SwiftDataError.unknownSchema) { try DefaultStore(ModelConfiguration()) }
    }
}

@Suite("Containers, as documented")
struct ContainerConformanceTests {
    @Test("every initializer of a container opens the stores of its configurations")
    func initializers() throws {
        let memory = ModelConfiguration(isStoredInMemoryOnly: true)
        let schema = Schema([Note.self, Article.self])
        let containers = [
            try ModelContainer(for: Note.self, configurations: .init(isStoredInMemoryOnly: true)),
            try ModelContainer(for: Note.self, Article.self, configurations: memory),
            try ModelContainer(for: Note.self, migrationPlan: nil, configurations: memory),
            try ModelContainer(for: schema, configurations: memory),
            try ModelContainer(for: schema, migrationPlan: nil, configurations: memory),
            try ModelContainer(for: schema, migrationPlan: nil, configurations: [memory]),
            try ModelContainer(
                for: schema, configurations: [memory as any DataStoreConfiguration]),
        ]
        for container in containers {
            let context = ModelContext(container)
            context.insert(Note(text: "n"))
            try context.save()
            #expect(try ModelContext(container).fetchCount(FetchDescriptor<Note>()) == 1)
            #expect(container.configurations.count == 1)
            #expect(container.migrationPlan == nil)
            #expect(container.schema.entitiesByName["Note"] != nil)
        }
        let other: any DataStoreConfiguration = memory
        let custom = try ModelContainer(for: Note.self, configurations: other)
        #expect(custom.schema.entity(for: Note.self) != nil)
    }

    @Test("a container has the migration plan and the versioned schema of its initializer")
    func migrationPlan() throws {
        let schema = Schema(versionedSchema: PeopleV2.self)
        #expect(schema.version == PeopleV2.versionIdentifier)
        let container = try ModelContainer(
            for: schema, migrationPlan: PeoplePlan.self,
            configurations: ModelConfiguration(isStoredInMemoryOnly: true))
        #expect(container.migrationPlan == PeoplePlan.self)
        #expect(container.schema == schema)
    }

    @Test("a container is equal to itself and to no other container")
    func equality() throws {
        let container = try makeContainer()
        let context = ModelContext(container)
        #expect(context.container == container)
        #expect(try makeContainer() != container)
        #expect(context == context)
        #expect(ModelContext(container) != context)
    }

    @Test("a container has the configurations that were given or set")
    func configurations() throws {
        let container = try makeContainer()
        let before = container.configurations
        #expect(before.map(\.isStoredInMemoryOnly) == [true])
        container.configurations = [ModelConfiguration("other")]
        #expect(container.configurations.map(\.name) == ["other"])
    }

    @Test("two configurations of one file, and an entity that the container lacks, are errors")
    func contradictions() throws {
        let url = FileManager.default.temporaryDirectory.appending(path: "\(UUID()).store")
        #expect(throws: SwiftDataError.duplicateConfiguration) {
            try ModelContainer(
                for: Note.self,
                configurations: ModelConfiguration("a", url: url), ModelConfiguration("b", url: url)
            )
        }
        #expect(throws: SwiftDataError.configurationSchemaNotFoundInContainerSchema) {
            try ModelContainer(
                for: Schema([Parcel.self]),
                configurations: ModelConfiguration(for: Note.self, isStoredInMemoryOnly: true))
        }
    }

    @MainActor @Test("a container has one main context, which has the container")
    func mainContext() throws {
        let container = try makeContainer()
        #expect(container.mainContext === container.mainContext)
        #expect(container.mainContext.container == container)
        #expect(try makeContainer().mainContext !== container.mainContext)
    }

    @Test("two containers in memory have separate models")
    func apart() throws {
        let context = ModelContext(try makeContainer())
        context.insert(Tag(name: "t"))
        try context.save()
        #expect(try ModelContext(makeContainer()).fetchCount(FetchDescriptor<Tag>()) == 0)
    }

    @Test("erase removes all models and the history, and the container can be used afterwards")
    func erase() throws {
        let container = try makeContainer()
        let context = ModelContext(container)
        let article = Article(title: "a", category: Category(name: "c"))
        article.tags = [Tag(name: "t")]
        context.insert(article)
        try context.save()
        try container.erase()
        let other = ModelContext(container)
        #expect(try other.fetchCount(FetchDescriptor<Article>()) == 0)
        #expect(try other.fetchCount(FetchDescriptor<Category>()) == 0)
        #expect(try other.fetchCount(FetchDescriptor<Tag>()) == 0)
        let history = try other.fetchHistory(Transactions())
        #expect(history.count == 1)
        #expect(history.first?.changes.count == 3)
        #expect(try context.fetch(FetchDescriptor<Article>()).isEmpty)
        #expect(article.isDeleted)
        #expect(article.title == "a")
        context.insert(Category(name: "c"))
        try context.save()
        #expect(try other.fetchCount(FetchDescriptor<Category>()) == 1)
    }

    @available(*, deprecated)
    @Test("deleteAllData, the former name of erase, removes all models")
    func deleteAllData() throws {
        let container = try makeContainer()
        let context = ModelContext(container)
        context.insert(Tag(name: "t"))
        try context.save()
        container.deleteAllData()
        #expect(try ModelContext(container).fetchCount(FetchDescriptor<Tag>()) == 0)
    }

    @Test("a store that does not allow saving refuses changes, and other stores are saved")
    func allowsSave() throws {
        let readOnly = ModelConfiguration(
            "read", schema: Schema([Note.self, Article.self]), isStoredInMemoryOnly: true,
            allowsSave: false)
        let writable = ModelConfiguration(
            "write", schema: Schema([Parcel.self]), isStoredInMemoryOnly: true)
        let container = try ModelContainer(
            for: Note.self, Parcel.self, configurations: readOnly, writable)
        let context = ModelContext(container)
        context.insert(Parcel(code: "p"))
        context.insert(Note(text: "n"))
        let error = #expect(throws: SwiftDataError.self) { try context.save() }
        #expect(error == .modelValidationFailure)
        #expect(context.hasChanges)
        #expect(try ModelContext(container).fetchCount(FetchDescriptor<Parcel>()) == 0)
        for note in try context.fetch(FetchDescriptor<Note>()) { context.delete(note) }
        try context.save()
        #expect(try ModelContext(container).fetchCount(FetchDescriptor<Parcel>()) == 1)
    }

    @Test("opening a missing file for reading only does not create it")
    func missingForReading() throws {
        let folder = try StoreFileTests.Folder()
        let url = folder.url.appending(path: "none.store")
        let error = #expect(throws: SwiftDataError.self) {
            try ModelContainer(
                for: Note.self, configurations: ModelConfiguration(url: url, allowsSave: false))
        }
        #expect(error == .loadIssueModelContainer)
        #expect("\(try #require(error))".contains("none.store"))
        #expect(!FileManager.default.fileExists(atPath: url.path))
        _ = try ModelContainer(for: Note.self, configurations: ModelConfiguration(url: url))
        let container = try ModelContainer(
            for: Note.self, configurations: ModelConfiguration(url: url, allowsSave: false))
        let context = ModelContext(container)
        #expect(try context.fetchCount(FetchDescriptor<Note>()) == 0)
        context.insert(Note(text: "n"))
        #expect(throws: SwiftDataError.modelValidationFailure) { try context.save() }
    }

    @Test("a container's file has SQLite's format, and may be copied after a save and removed")
    func file() throws {
        let folder = try StoreFileTests.Folder()
        let url = folder.url.appending(path: "a.store")
        let copy = folder.url.appending(path: "b.store")
        func open(_ url: URL) throws -> ModelContext {
            ModelContext(
                try ModelContainer(for: Note.self, configurations: ModelConfiguration(url: url)))
        }
        do {
            let context = try open(url)
            let start = try Data(contentsOf: url).prefix(15)
            #expect(String(decoding: start, as: UTF8.self) == "SQLite format 3")
            context.insert(Note(text: "n"))
            try context.save()
            for ending in ["", "-wal", "-shm"] {
                let from = URL(filePath: url.path + ending)
                guard FileManager.default.fileExists(atPath: from.path) else { continue }
                try FileManager.default.copyItem(at: from, to: URL(filePath: copy.path + ending))
            }
        }
        #expect(try open(copy).fetch(FetchDescriptor<Note>()).map(\.text) == ["n"])
        for ending in ["", "-wal", "-shm"] {
            try? FileManager.default.removeItem(atPath: url.path + ending)
        }
        #expect(try open(url).fetchCount(FetchDescriptor<Note>()) == 0)
    }
}
