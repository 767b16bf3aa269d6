import Foundation
import SwiftData
import Testing

@Suite("A configuration says where the models of a schema are stored")
struct ConfigurationTests {
    @Test("a configuration stores models in memory, for all types of the container or some")
    func inMemory() throws {
        let memory = ModelConfiguration(isStoredInMemoryOnly: true)
        #expect(memory.isStoredInMemoryOnly)
        #expect(memory.allowsSave)
        #expect(memory.schema == nil)
        #expect(memory.name == "default")
        #expect(memory.id == memory.url)
        let some = ModelConfiguration(for: Tag.self, Note.self, isStoredInMemoryOnly: true)
        #expect(some.schema == Schema([Tag.self, Note.self]))
        #expect(ModelConfiguration(for: Tag.self).isStoredInMemoryOnly == false)
        let container = try ModelContainer(
            for: Single.self, configurations: .init(isStoredInMemoryOnly: true))
        #expect(container.configurations == [memory])
    }

    @Test("a configuration stores models in a file with its name, in the folder of a group")
    func names() {
        let named = ModelConfiguration("Notes", schema: Schema([Single.self]))
        #expect(named.name == "Notes")
        #expect(named.url.lastPathComponent == "Notes.store")
        #expect(!named.isStoredInMemoryOnly)
        #expect(named.groupAppContainerIdentifier == nil)
        let grouped = ModelConfiguration("Notes", groupContainer: .identifier("org.example.group"))
        #expect(grouped.groupAppContainerIdentifier == "org.example.group")
        #expect(grouped.url.deletingLastPathComponent().lastPathComponent == "org.example.group")
        let groups: [ModelConfiguration.GroupContainer] = [.automatic, .none]
        for group in groups {
            let configuration = ModelConfiguration("Notes", groupContainer: group)
            #expect(configuration.url == named.url)
            #expect(configuration.groupContainer == group)
        }
        let placed = ModelConfiguration(url: URL(filePath: "/a/b.store"), allowsSave: false)
        #expect(placed.name == "b")
        #expect(!placed.allowsSave)
        #expect(placed.debugDescription == "ModelConfiguration(b, /a/b.store, read only)")
    }

    @Test("a database of CloudKit in a configuration has no effect")
    func cloudKit() throws {
        let databases: [ModelConfiguration.CloudKitDatabase] = [
            .automatic, .none, .private("iCloud.org.example"),
        ]
        for database in databases {
            let configuration = ModelConfiguration(
                isStoredInMemoryOnly: true, cloudKitDatabase: database)
            #expect(configuration.cloudKitDatabase == database)
            let context = ModelContext(
                try ModelContainer(for: Single.self, configurations: configuration))
            context.insert(Single(name: "s"))
            try context.save()
        }
        let named = ModelConfiguration(
            isStoredInMemoryOnly: true, cloudKitDatabase: .private("iCloud.org.example"))
        #expect(named.cloudKitContainerIdentifier == "iCloud.org.example")
    }

    @Test("a configuration that does not allow saving refuses a save")
    func readOnly() throws {
        let context = ModelContext(
            try ModelContainer(
                for: Single.self,
                configurations: ModelConfiguration(
                    isStoredInMemoryOnly: true, allowsSave: false)))
        context.insert(Single(name: "s"))
        #expect(throws: SwiftDataError.modelValidationFailure) { try context.save() }
        #expect(context.hasChanges)
    }

    @Test("erasing a container removes its models from its contexts")
    func erasing() throws {
        let container = try makeContainer()
        let context = ModelContext(container)
        context.insert(Tag(name: "t"))
        try context.save()
        try container.erase()
        #expect(try context.fetchCount(FetchDescriptor<Tag>()) == 0)
        context.insert(Tag(name: "u"))
        try context.save()
        #expect(try ModelContext(container).fetch(FetchDescriptor<Tag>()).map(\.name) == ["u"])
    }

    @available(*, deprecated)
    @Test("deleteAllData removes the models of a container from its contexts")
    func deletingAllData() throws {
        let container = try makeContainer()
        let context = ModelContext(container)
        context.insert(Tag(name: "t"))
        try context.save()
        container.deleteAllData()
        #expect(try context.fetchCount(FetchDescriptor<Tag>()) == 0)
    }

    @Test("a container without a migration plan has none, and is equal to itself only")
    func equality() throws {
        let (one, two) = (try makeContainer(), try makeContainer())
        #expect(one == one)
        #expect(one != two)
        #expect(one.migrationPlan == nil)
        #expect(ModelContext(one).container == one)
        #expect(one.schema == Schema([Note.self]))
    }
}
