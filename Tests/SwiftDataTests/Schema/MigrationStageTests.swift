import Foundation
import SwiftData
import Synchronization
import Testing

@Suite("The stages of a migration plan")
struct MigrationStageTests {
    private let folder: StoreFileTests.Folder
    private let configuration: ModelConfiguration

    /// A store of the first version with one person.
    init() throws {
        folder = try StoreFileTests.Folder()
        configuration = ModelConfiguration(url: folder.url.appending(path: "plan.store"))
        let context = ModelContext(
            try ModelContainer(
                for: Schema(versionedSchema: PeopleV1.self), configurations: configuration))
        context.insert(PeopleV1.Person(name: "Ann"))
        try context.save()
    }

    private func open(_ plan: any SchemaMigrationPlan.Type) throws -> ModelContainer {
        try ModelContainer(
            for: Schema(versionedSchema: PeopleV2.self), migrationPlan: plan,
            configurations: configuration)
    }

    @Test("a lightweight stage of a migration plan adds what the next version has")
    func lightweight() throws {
        let container = try open(LightPlan.self)
        #expect(container.migrationPlan is LightPlan.Type)
        #expect(LightPlan.schemas.map { $0.versionIdentifier.major } == [1, 2])
        let people = try ModelContext(container).fetch(FetchDescriptor<PeopleV2.Person>())
        #expect(people.map(\.name) == ["Ann"])
    }

    @Test("a custom stage of a migration plan runs once, with contexts before and after it")
    func custom() throws {
        for _ in 0..<2 {
            let container = try open(CustomPlan.self)
            let people = try ModelContext(container).fetch(FetchDescriptor<PeopleV2.Person>())
            #expect(people.map(\.name) == ["Ann Lee"])
            #expect(people.map(\.last) == ["Lee"])
        }
        #expect(CustomPlan.calls.withLock { $0 } == ["will", "did"])
    }

    @Test("a stage of a migration plan whose code throws is an error, and the store is unchanged")
    func failure() throws {
        let error = #expect(throws: (any Error).self) { try open(FailingPlan.self) }
        #expect("\(try #require(error))".contains("NoPeople"))
        let container = try ModelContainer(
            for: Schema(versionedSchema: PeopleV1.self), configurations: configuration)
        let people = try ModelContext(container).fetch(FetchDescriptor<PeopleV1.Person>())
        #expect(people.map(\.name) == ["Ann"])
    }
}

private enum LightPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [PeopleV1.self, PeopleV2.self] }
    static var stages: [MigrationStage] {
        [.lightweight(fromVersion: PeopleV1.self, toVersion: PeopleV2.self)]
    }
}

private enum CustomPlan: SchemaMigrationPlan {
    static let calls = Mutex<[String]>([])

    static var schemas: [any VersionedSchema.Type] { [PeopleV1.self, PeopleV2.self] }
    static var stages: [MigrationStage] {
        [
            .custom(
                fromVersion: PeopleV1.self, toVersion: PeopleV2.self,
                willMigrate: { context in
                    calls.withLock { $0.append("will") }
                    for person in try context.fetch(FetchDescriptor<PeopleV1.Person>()) {
                        person.name += " Lee"
                    }
                    try context.save()
                },
                didMigrate: { context in
                    calls.withLock { $0.append("did") }
                    for person in try context.fetch(FetchDescriptor<PeopleV2.Person>()) {
                        person.last = String(person.name.suffix(3))
                    }
                    try context.save()
                })
        ]
    }
}

private enum FailingPlan: SchemaMigrationPlan {
    struct NoPeople: Error {}

    static var schemas: [any VersionedSchema.Type] { [PeopleV1.self, PeopleV2.self] }
    static var stages: [MigrationStage] {
        [
            .custom(
                fromVersion: PeopleV1.self, toVersion: PeopleV2.self,
                willMigrate: { context in
                    try context.delete(model: PeopleV1.Person.self)
                    try context.save()
                    throw NoPeople()
                }, didMigrate: nil)
        ]
    }
}
