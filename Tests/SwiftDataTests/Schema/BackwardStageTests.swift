import Foundation
import SwiftData
import Synchronization
import Testing

@Suite("Stages of a migration plan that lead to an earlier version")
struct BackwardStageTests {
    private let folder: StoreFileTests.Folder
    private let configuration: ModelConfiguration

    /// A store of the second version with two members.
    init() throws {
        folder = try StoreFileTests.Folder()
        configuration = ModelConfiguration(url: folder.url.appending(path: "back.store"))
        let context = ModelContext(try open(MembersV2.self))
        context.insert(MembersV2.Member(name: "Ann", number: "7", email: "ann@larder"))
        context.insert(MembersV2.Member(name: "Bob", number: "8", email: nil))
        try context.save()
    }

    private func open(
        _ version: any VersionedSchema.Type, _ plan: (any SchemaMigrationPlan.Type)? = nil
    ) throws -> ModelContainer {
        try ModelContainer(
            for: Schema(versionedSchema: version), migrationPlan: plan,
            configurations: configuration)
    }

    private func members() throws -> [String] {
        let context = ModelContext(try open(MembersV2.self))
        return try context.fetch(FetchDescriptor<MembersV2.Member>(sortBy: [.init(\.name)]))
            .map { "\($0.name) \($0.number) \($0.email ?? "none")" }
    }

    private func formerMembers(_ plan: any SchemaMigrationPlan.Type) throws -> [String] {
        let context = ModelContext(try open(MembersV1.self, plan))
        return try context.fetch(FetchDescriptor<MembersV1.Member>(sortBy: [.init(\.name)]))
            .map { "\($0.name) \($0.number)" }
    }

    @Test("a lightweight stage to an earlier version drops what that does not have")
    func lightweight() throws {
        #expect(try formerMembers(BackPlan.self) == ["Ann 7", "Bob 8"])
        // The store is one of the first version now, so the second one adds an attribute to it.
        #expect(try formerMembers(BackPlan.self) == ["Ann 7", "Bob 8"])
        #expect(try ModelContext(open(MembersV1.self)).fetchCount(all) == 2)
    }

    private var all: FetchDescriptor<MembersV1.Member> { FetchDescriptor() }

    @Test("a custom stage to an earlier version runs its code before and after it")
    func custom() throws {
        #expect(try formerMembers(CustomBackPlan.self) == ["Ann <ann@larder> 70", "Bob 80"])
        // It is not performed again.
        #expect(try formerMembers(CustomBackPlan.self) == ["Ann <ann@larder> 70", "Bob 80"])
        #expect(CustomBackPlan.calls.withLock { $0 } == ["will", "did"])
    }

    @Test("a value that does not fit the earlier version is an error, and nothing is lost")
    func misfit() throws {
        do {
            let context = ModelContext(try open(MembersV2.self))
            context.insert(MembersV2.Member(name: "Eve", number: "nine", email: "e@larder"))
            try context.save()
        }
        let error = #expect(throws: SwiftDataError.self) { try open(MembersV1.self, BackPlan.self) }
        #expect(SwiftDataError.loadIssueModelContainer ~= (try #require(error)))
        let text = try #require(error?.errorDescription)
        #expect(text.contains("whole number") && text.contains("Member"), "\(text)")
        #expect(try members() == ["Ann 7 ann@larder", "Bob 8 none", "Eve nine e@larder"])
    }

    @Test("a stage to an earlier version whose code throws leaves the store as it was")
    func failure() throws {
        let error = #expect(throws: (any Error).self) {
            try open(MembersV1.self, FailingBackPlan.self)
        }
        #expect("\(try #require(error))".contains("NotBack"))
        #expect(try members() == ["Ann 7 ann@larder", "Bob 8 none"])
    }

    @Test("a store goes to an earlier version and to the later one again")
    func forthAndBack() throws {
        for round in 0..<2 {
            #expect(try formerMembers(BackPlan.self) == ["Ann 7", "Bob 8"])
            let context = ModelContext(try open(MembersV2.self, ForthPlan.self))
            let found = try context.fetch(
                FetchDescriptor<MembersV2.Member>(sortBy: [.init(\.name)]))
            #expect(found.map(\.number) == ["7", "8"])
            #expect(found.map(\.email) == [nil, nil])
            found[0].email = "again \(round)"
            try context.save()
        }
        #expect(try members() == ["Ann 7 again 1", "Bob 8 none"])
    }

    @Test("several stages lead to an earlier version together")
    func severalStages() throws {
        do { _ = try open(MembersV3.self, ToThirdPlan.self) }
        #expect(try formerMembers(TwoBackPlan.self) == ["Ann 7", "Bob 8"])
    }

    @Test("a stage leads back although the later version only adds to the earlier one")
    func additive() throws {
        do {
            let context = ModelContext(try open(MembersV3.self, ToThirdPlan.self))
            #expect(try context.fetchCount(FetchDescriptor<MembersV3.Member>()) == 2)
            // Without a plan, the second version is a view of the third one.
            #expect(try members().count == 2)
        }
        let container = try open(MembersV2.self, ThirdBackPlan.self)
        let members = try ModelContext(container).fetch(FetchDescriptor<MembersV2.Member>())
        #expect(Set(members.map(\.name)) == ["Ann, a member", "Bob, a member"])
    }

    @Test("a store of a later version is refused without a plan, as before")
    func withoutPlan() throws {
        let error = #expect(throws: SwiftDataError.self) { try open(MembersV1.self) }
        #expect(SwiftDataError.loadIssueModelContainer ~= (try #require(error)))
        let text = try #require(error?.errorDescription)
        #expect(text.contains("1.0.0 is older than the store's schema, 2.0.0"), "\(text)")
        // A plan without a stage that leads back is none for this.
        let other = #expect(throws: SwiftDataError.self) {
            try open(MembersV1.self, ForthPlan.self)
        }
        #expect(SwiftDataError.loadIssueModelContainer ~= (try #require(other)))
        #expect(try members() == ["Ann 7 ann@larder", "Bob 8 none"])
    }
}

private enum MembersV1: VersionedSchema {
    static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }
    static var models: [any PersistentModel.Type] { [Member.self] }

    @Model final class Member {
        var name: String
        var number: Int
        // Computed for each object, so that without a plan, too, it would be a stage with code.
        var joined: Date = Date.now

        init(name: String, number: Int) {
            self.name = name
            self.number = number
        }
    }
}

private enum MembersV2: VersionedSchema {
    static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }
    static var models: [any PersistentModel.Type] { [Member.self] }

    @Model final class Member {
        var name: String
        var number: String
        var email: String?

        init(name: String, number: String, email: String?) {
            self.name = name
            self.number = number
            self.email = email
        }
    }
}

/// The second version with an attribute more.
private enum MembersV3: VersionedSchema {
    static var versionIdentifier: Schema.Version { Schema.Version(3, 0, 0) }
    static var models: [any PersistentModel.Type] { [Member.self] }

    @Model final class Member {
        var name: String
        var number: String
        var email: String?
        var title: String = "a member"

        init(name: String, number: String, email: String?) {
            self.name = name
            self.number = number
            self.email = email
        }
    }
}

private enum BackPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [MembersV1.self, MembersV2.self] }
    static var stages: [MigrationStage] {
        [.lightweight(fromVersion: MembersV2.self, toVersion: MembersV1.self)]
    }
}

private enum ForthPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [MembersV1.self, MembersV2.self] }
    static var stages: [MigrationStage] {
        [.lightweight(fromVersion: MembersV1.self, toVersion: MembersV2.self)]
    }
}

private enum ToThirdPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [MembersV2.self, MembersV3.self] }
    static var stages: [MigrationStage] {
        [.lightweight(fromVersion: MembersV2.self, toVersion: MembersV3.self)]
    }
}

private enum TwoBackPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] {
        [MembersV1.self, MembersV2.self, MembersV3.self]
    }
    static var stages: [MigrationStage] {
        [
            .lightweight(fromVersion: MembersV3.self, toVersion: MembersV2.self),
            .lightweight(fromVersion: MembersV2.self, toVersion: MembersV1.self),
        ]
    }
}

private enum ThirdBackPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [MembersV2.self, MembersV3.self] }
    static var stages: [MigrationStage] {
        [
            .custom(
                fromVersion: MembersV3.self, toVersion: MembersV2.self,
                willMigrate: { context in
                    for member in try context.fetch(FetchDescriptor<MembersV3.Member>()) {
                        member.name += ", \(member.title)"
                    }
                    try context.save()
                }, didMigrate: nil)
        ]
    }
}

private enum CustomBackPlan: SchemaMigrationPlan {
    static let calls = Mutex<[String]>([])

    static var schemas: [any VersionedSchema.Type] { [MembersV1.self, MembersV2.self] }
    static var stages: [MigrationStage] {
        [
            .custom(
                fromVersion: MembersV2.self, toVersion: MembersV1.self,
                willMigrate: { context in
                    calls.withLock { $0.append("will") }
                    for member in try context.fetch(FetchDescriptor<MembersV2.Member>()) {
                        if let email = member.email { member.name += " <\(email)>" }
                    }
                    try context.save()
                },
                didMigrate: { context in
                    calls.withLock { $0.append("did") }
                    for member in try context.fetch(FetchDescriptor<MembersV1.Member>()) {
                        member.number *= 10
                    }
                    try context.save()
                })
        ]
    }
}

private enum FailingBackPlan: SchemaMigrationPlan {
    struct NotBack: Error {}

    static var schemas: [any VersionedSchema.Type] { [MembersV1.self, MembersV2.self] }
    static var stages: [MigrationStage] {
        [
            .custom(
                fromVersion: MembersV2.self, toVersion: MembersV1.self, willMigrate: nil,
                didMigrate: { context in
                    try context.delete(model: MembersV1.Member.self)
                    try context.save()
                    throw NotBack()
                })
        ]
    }
}
