import Foundation
import SwiftData
import Testing

/// The store file of an app, which the versions of the app open one after another.
struct AppStore {
    /// 2024-03-01 00:00 UTC, the day on which the data of the apps begin.
    static let start = Date(timeIntervalSince1970: 1_709_251_200)

    private let folder: StoreFileTests.Folder
    private let configuration: ModelConfiguration

    init() throws {
        folder = try StoreFileTests.Folder()
        configuration = ModelConfiguration(url: folder.url.appending(path: "default.store"))
    }

    static func day(_ number: Int, hour: Int = 0) -> Date {
        start.addingTimeInterval(Double(number * 24 + hour) * 3_600)
    }

    func open(
        _ version: any VersionedSchema.Type, _ plan: (any SchemaMigrationPlan.Type)? = nil
    ) throws -> ModelContainer {
        try ModelContainer(
            for: Schema(versionedSchema: version), migrationPlan: plan,
            configurations: configuration)
    }

    /// One launch of a version of the app. The container is closed at its end.
    func launch<Result>(
        _ version: any VersionedSchema.Type, _ plan: (any SchemaMigrationPlan.Type)? = nil,
        _ body: (ModelContext) throws -> Result
    ) throws -> Result {
        try body(ModelContext(open(version, plan)))
    }

    /// Expects that a store that has the version already is opened with the plan without a change.
    func expectCurrent(
        _ version: any VersionedSchema.Type, _ plan: any SchemaMigrationPlan.Type,
        _ location: SourceLocation = #_sourceLocation
    ) throws {
        func transactionCount() throws -> Int {
            try launch(version, plan) { context in
                let history = HistoryDescriptor<DefaultHistoryTransaction>()
                return try context.fetchHistory(history).count
            }
        }
        let count = try transactionCount()
        let file = try Data(contentsOf: configuration.url)
        #expect(try transactionCount() == count, sourceLocation: location)
        #expect(try Data(contentsOf: configuration.url) == file, sourceLocation: location)
    }
}
