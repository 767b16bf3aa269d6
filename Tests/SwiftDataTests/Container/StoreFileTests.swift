import Foundation
import SwiftData
import Testing

@Suite("A container on a file")
struct StoreFileTests {
    /// A folder that is removed at the end of the test.
    final class Folder {
        let url = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)

        init() throws {
            try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        }

        deinit { try? FileManager.default.removeItem(at: url) }
    }

    private func container(_ folder: Folder) throws -> ModelContainer {
        try ModelContainer(
            for: Category.self, Article.self, Tag.self, Note.self,
            configurations: ModelConfiguration(url: folder.url.appending(path: "test.store")))
    }

    @Test("a container on a file keeps the saved models")
    func persistence() throws {
        let folder = try Folder()
        do {
            let context = ModelContext(try container(folder))
            context.insert(Article(title: "A", category: Category(name: "tech")))
            try context.save()
        }
        let context = ModelContext(try container(folder))
        let article = try #require(try context.fetch(FetchDescriptor<Article>()).first)
        #expect(article.title == "A")
        #expect(article.category?.name == "tech")
    }

    @Test("the folders of a store that a URL names are made")
    func missingFolders() throws {
        let folder = try Folder()
        let url = folder.url.appending(path: "App/Data/Storage.sqlite")
        for _ in 0..<2 {
            let context = ModelContext(
                try ModelContainer(for: Note.self, configurations: ModelConfiguration(url: url)))
            context.insert(Note(text: "a"))
            try context.save()
        }
        #expect(FileManager.default.fileExists(atPath: url.path))
        let other = folder.url.appending(path: "Other/Storage.sqlite")
        #expect(throws: SwiftDataError.loadIssueModelContainer) {
            try ModelContainer(
                for: Note.self, configurations: ModelConfiguration(url: other, allowsSave: false))
        }
        #expect(!FileManager.default.fileExists(atPath: other.deletingLastPathComponent().path))
    }

    @Test("an empty schema opens a container")
    func emptySchema() throws {
        let memory = ModelConfiguration(isStoredInMemoryOnly: true)
        let container = try ModelContainer(for: Schema(), configurations: memory)
        try ModelContext(container).save()
        let folder = try Folder()
        let file = ModelConfiguration(url: folder.url.appending(path: "empty.store"))
        for _ in 0..<2 {
            let container = try ModelContainer(for: Schema([]), configurations: file)
            #expect(!ModelContext(container).hasChanges)
            #expect(throws: (any Error).self) {
                try ModelContext(container).fetch(FetchDescriptor<Note>())
            }
        }
    }

    @Test("two containers of one process on a file share the store")
    func sharing() throws {
        let folder = try Folder()
        let (one, two) = (try container(folder), try container(folder))
        let context = ModelContext(one)
        context.insert(Article(title: "A"))
        try context.save()
        #expect(try ModelContext(two).fetchCount(FetchDescriptor<Article>()) == 1)
    }

    @Test("a container on a file that is not a store is an error")
    func garbage() throws {
        let folder = try Folder()
        let path = folder.url.appending(path: "test.store")
        try Data("this is not a store, by far".utf8).write(to: path)
        #expect(throws: SwiftDataError.loadIssueModelContainer) { try container(folder) }
    }

    @Test("a container migrates its store by a plan with a custom stage")
    func plan() throws {
        let folder = try Folder()
        let configuration = ModelConfiguration(url: folder.url.appending(path: "plan.store"))
        do {
            let container = try ModelContainer(
                for: Schema(versionedSchema: PeopleV1.self), configurations: configuration)
            let context = ModelContext(container)
            context.insert(PeopleV1.Person(name: "Ann Lee"))
            try context.save()
        }
        let container = try ModelContainer(
            for: Schema(versionedSchema: PeopleV2.self), migrationPlan: PeoplePlan.self,
            configurations: configuration)
        let people = try ModelContext(container).fetch(FetchDescriptor<PeopleV2.Person>())
        #expect(people.map(\.first) == ["Ann"])
        #expect(people.map(\.last) == ["Lee"])
    }

    @Test("a container migrates its store without a plan if the difference can be inferred")
    func inferred() throws {
        let folder = try Folder()
        let configuration = ModelConfiguration(url: folder.url.appending(path: "plan.store"))
        do {
            let container = try ModelContainer(
                for: Schema(versionedSchema: PeopleV1.self), configurations: configuration)
            let context = ModelContext(container)
            context.insert(PeopleV1.Person(name: "Ann Lee"))
            try context.save()
        }
        let container = try ModelContainer(
            for: Schema(versionedSchema: PeopleV2.self), configurations: configuration)
        let people = try ModelContext(container).fetch(FetchDescriptor<PeopleV2.Person>())
        #expect(people.map(\.name) == ["Ann Lee"])
        #expect(people.map(\.first) == [""])
    }
}

enum PeopleV1: VersionedSchema {
    static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }
    static var models: [any PersistentModel.Type] { [Person.self] }

    @Model final class Person {
        var name: String

        init(name: String) { self.name = name }
    }
}

enum PeopleV2: VersionedSchema {
    static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }
    static var models: [any PersistentModel.Type] { [Person.self] }

    @Model final class Person {
        var name: String
        var first: String = ""
        var last: String = ""

        init(name: String) { self.name = name }
    }
}

enum PeoplePlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [PeopleV1.self, PeopleV2.self] }
    static var stages: [MigrationStage] {
        [
            .custom(
                fromVersion: PeopleV1.self, toVersion: PeopleV2.self, willMigrate: nil,
                didMigrate: { context in
                    for person in try context.fetch(FetchDescriptor<PeopleV2.Person>()) {
                        let parts = person.name.split(separator: " ").map(String.init)
                        person.first = parts.first ?? ""
                        person.last = parts.last ?? ""
                    }
                    try context.save()
                })
        ]
    }
}
