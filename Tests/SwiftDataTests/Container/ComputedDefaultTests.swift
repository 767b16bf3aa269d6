import Foundation
import SwiftData
import Testing

/// Default values that only the program can compute, for the objects of a store that is older.
@Suite("Computed default values in a migration")
struct ComputedDefaultTests {
    private let folder: StoreFileTests.Folder
    private let configuration: ModelConfiguration

    init() throws {
        folder = try StoreFileTests.Folder()
        configuration = ModelConfiguration(url: folder.url.appending(path: "rows.store"))
    }

    /// A store of the first version.
    private func create(_ count: Int) throws {
        let context = ModelContext(try open(RowsV1.self))
        for number in 0..<count { context.insert(RowsV1.Row(name: "\(number)")) }
        try context.save()
    }

    private func open(
        _ version: any VersionedSchema.Type, _ plan: (any SchemaMigrationPlan.Type)? = nil
    ) throws -> ModelContainer {
        try ModelContainer(
            for: Schema(versionedSchema: version), migrationPlan: plan,
            configurations: configuration)
    }

    @Test("old objects get the values of defaults that are not literals, each its own")
    func inferred() throws {
        try create(3)
        let start = Date()
        let rows = try ModelContext(open(RowsV2.self)).fetch(
            FetchDescriptor<RowsV2.Row>(sortBy: [SortDescriptor(\.name)]))
        #expect(rows.map(\.name) == ["0", "1", "2"])
        for row in rows {
            #expect((start...Date()).contains(row.created))
            #expect((start...Date()).contains(row.changed))
            #expect(row.data == Data() && row.price == Decimal(string: "1.5"))
            #expect(row.interval == 3_600 && row.link == URL(string: "https://example.org"))
            #expect(row.place == RowsV2.Place(x: 1, y: 2) && row.label.count == 36)
        }
        #expect(Set(rows.map(\.id)).count == 3)
        #expect(Set(rows.map(\.label)).count == 3)
    }

    @Test("the values of computed defaults stay when the store is opened again")
    func stable() throws {
        try create(3)
        func identifiers() throws -> [UUID] {
            try ModelContext(open(RowsV2.self)).fetch(
                FetchDescriptor<RowsV2.Row>(sortBy: [SortDescriptor(\.name)])
            ).map(\.id)
        }
        let first = try identifiers()
        #expect(try identifiers() == first)
    }

    @Test("many objects get values of a computed default that are unique")
    func many() throws {
        try create(5_000)
        let context = ModelContext(try open(RowsV2.self))
        let rows = try context.fetch(FetchDescriptor<RowsV2.Row>())
        #expect(Set(rows.map(\.id)).count == 5_000)
        context.insert(RowsV2.Row(name: "new"))
        try context.save()
        #expect(try context.fetchCount(FetchDescriptor<RowsV2.Row>()) == 5_001)
    }

    @Test("a stage of a plan gives computed defaults between its two pieces of code")
    func plan() throws {
        try create(2)
        let context = ModelContext(try open(RowsV2.self, RowsPlan.self))
        let rows = try context.fetch(FetchDescriptor<RowsV2.Row>())
        #expect(Set(rows.map(\.name)) == ["0 before after", "1 before after"])
        #expect(Set(rows.map(\.id)).count == 2)
    }

    @Test("an optional property that becomes required gets its default where it is nil")
    func optional() throws {
        let context = ModelContext(try open(RowsOptional.self))
        let date = Date(timeIntervalSinceReferenceDate: 1)
        context.insert(RowsOptional.Row(name: "old", created: date))
        context.insert(RowsOptional.Row(name: "none", created: nil))
        try context.save()
        let start = Date()
        let rows = try ModelContext(open(RowsV2.self)).fetch(FetchDescriptor<RowsV2.Row>())
        for row in rows {
            #expect(row.name == "old" ? row.created == date : row.created >= start)
        }
        #expect(rows.count == 2)
    }

    @Test("a subclass inherits a computed default, and its objects get values, too")
    func subclass() throws {
        let old = ModelContext(try open(TreesV1.self))
        old.insert(TreesV1.Tree())
        old.insert(TreesV1.Oak())
        try old.save()
        let context = ModelContext(try open(TreesV2.self))
        let trees = try context.fetch(FetchDescriptor<TreesV2.Tree>())
        #expect(Set(trees.map(\.id)).count == 2)
        let oaks = try context.fetch(FetchDescriptor<TreesV2.Oak>())
        #expect(oaks.map(\.planted.timeIntervalSinceReferenceDate) == [7])
    }

    @Test("a required property without a default is added only if there are no objects")
    func withoutDefault() throws {
        try create(0)
        let context = ModelContext(try open(RowsRequired.self))
        context.insert(RowsRequired.Row(name: "a", count: 1))
        try context.save()
        let other = ModelConfiguration(url: folder.url.appending(path: "other.store"))
        let first = ModelContext(
            try ModelContainer(
                for: Schema(versionedSchema: RowsV1.self), configurations: other))
        first.insert(RowsV1.Row(name: "a"))
        try first.save()
        let error = #expect(throws: (any Error).self) {
            try ModelContainer(
                for: Schema(versionedSchema: RowsRequired.self), configurations: other)
        }
        #expect("\(try #require(error))".contains("Row.count is required and has no default"))
    }

    @Test("a stage that removes all objects may add a required property without a default")
    func emptied() throws {
        try create(2)
        let container = try open(RowsRequired.self, EmptyingPlan.self)
        #expect(try ModelContext(container).fetchCount(FetchDescriptor<RowsRequired.Row>()) == 0)
    }
}

private enum RowsV1: VersionedSchema {
    static let versionIdentifier = Schema.Version(1, 0, 0)
    static var models: [any PersistentModel.Type] { [Row.self] }

    @Model final class Row {
        var name: String
        init(name: String) { self.name = name }
    }
}

private enum RowsOptional: VersionedSchema {
    static let versionIdentifier = Schema.Version(1, 1, 0)
    static var models: [any PersistentModel.Type] { [Row.self] }

    @Model final class Row {
        var name: String
        var created: Date?
        init(name: String, created: Date?) { (self.name, self.created) = (name, created) }
    }
}

private enum RowsV2: VersionedSchema {
    static let versionIdentifier = Schema.Version(2, 0, 0)
    static var models: [any PersistentModel.Type] { [Row.self] }

    struct Place: Codable, Hashable {
        var x = 0.0
        var y = 0.0
    }

    @Model final class Row {
        var name: String
        @Attribute(.unique) var id: UUID = UUID()
        var created: Date = Date()
        var changed: Date = Date.now
        var data: Data = Data()
        var price: Decimal = 1.5
        var interval: TimeInterval = 60 * 60
        var link: URL? = URL(string: "https://example.org")
        var place: Place = Place(x: 1, y: 2)
        var label: String = UUID().uuidString

        init(name: String) { self.name = name }
    }
}

private enum RowsRequired: VersionedSchema {
    static let versionIdentifier = Schema.Version(3, 0, 0)
    static var models: [any PersistentModel.Type] { [Row.self] }

    @Model final class Row {
        var name: String
        var count: Int
        init(name: String, count: Int) { (self.name, self.count) = (name, count) }
    }
}

private enum TreesV1: VersionedSchema {
    static let versionIdentifier = Schema.Version(1, 0, 0)
    static var models: [any PersistentModel.Type] { [Tree.self, Oak.self] }

    @Model class Tree {
        var height = 1
        init() {}
    }

    @Model final class Oak: Tree {
        var acorns = 0
        override init() { super.init() }
    }
}

private enum TreesV2: VersionedSchema {
    static let versionIdentifier = Schema.Version(2, 0, 0)
    static var models: [any PersistentModel.Type] { [Tree.self, Oak.self] }

    @Model class Tree {
        var height = 1
        var id: UUID = UUID()
        init() {}
    }

    @Model final class Oak: Tree {
        var acorns = 0
        var planted: Date = Date(timeIntervalSinceReferenceDate: 7)
        override init() { super.init() }
    }
}

private enum RowsPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [RowsV1.self, RowsV2.self] }
    static var stages: [MigrationStage] {
        [
            .custom(
                fromVersion: RowsV1.self, toVersion: RowsV2.self,
                willMigrate: { context in
                    for row in try context.fetch(FetchDescriptor<RowsV1.Row>()) {
                        row.name += " before"
                    }
                    try context.save()
                },
                didMigrate: { context in
                    for row in try context.fetch(FetchDescriptor<RowsV2.Row>()) {
                        row.name += " after"
                    }
                    try context.save()
                })
        ]
    }
}

private enum EmptyingPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [RowsV1.self, RowsRequired.self] }
    static var stages: [MigrationStage] {
        [
            .custom(
                fromVersion: RowsV1.self, toVersion: RowsRequired.self,
                willMigrate: { context in
                    try context.delete(model: RowsV1.Row.self)
                    try context.save()
                }, didMigrate: nil)
        ]
    }
}
