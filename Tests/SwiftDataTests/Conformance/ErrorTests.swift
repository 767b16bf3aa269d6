import Foundation
import LarderModel
import SwiftData
import Testing

@Suite("The errors of SwiftData")
struct ErrorTests {
    private static let all: [SwiftDataError] = [
        .includePendingChangesWithBatchSize, .unsupportedPredicate, .unsupportedKeyPath,
        .sortingPendingChangesWithIdentifiers, .unsupportedSortDescriptor,
        .duplicateConfiguration, .configurationFileNameTooLong,
        .configurationFileNameContainsInvalidCharacters,
        .configurationSchemaNotFoundInContainerSchema, .loadIssueModelContainer,
        .modelValidationFailure, .missingModelContext, .backwardMigration, .unknownSchema,
        .historyTokenExpired, .invalidTransactionFetchRequest, .unknownDataStoreSchema,
    ]

    @Test("the errors of SwiftData are different cases with a sentence each, matched by ~=")
    func cases() {
        #expect(Set(Self.all).count == 17)
        #expect(Set(Self.all.map(\.description)).count == 17)
        let error: any Error = SwiftDataError.unknownSchema
        #expect(error.localizedDescription == SwiftDataError.unknownSchema.errorDescription)
        #expect(error.localizedDescription == "\(SwiftDataError.unknownSchema)")
        #expect(SwiftDataError.unknownSchema ~= error)
        #expect(!(SwiftDataError.backwardMigration ~= error))
        #expect(!(SwiftDataError.unknownSchema ~= CocoaError(.fileNoSuchFile)))
        do {
            throw SwiftDataError.historyTokenExpired
        } catch SwiftDataError.unknownSchema {
            Issue.record("another case")
        } catch SwiftDataError.historyTokenExpired {
        } catch {
            Issue.record("\(error)")
        }
    }

    /// The description of the error that a closure throws, if it is the case.
    private func description(
        _ expected: SwiftDataError, _ body: () throws -> Void
    ) -> String {
        do {
            try body()
        } catch let error as SwiftDataError where error == expected {
            return error.description
        } catch {
            return "another error: \(error)"
        }
        return "no error"
    }

    @Test("an error that stands for one of the store has that one as its underlying error")
    func underlying() throws {
        let context = ModelContext(try makeContainer())
        let own = FetchDescriptor<Article>(predicate: #Predicate { $0.hashValue == 1 })
        let computed = #expect(throws: SwiftDataError.self) { try context.fetch(own) }
        #expect(computed == .unsupportedPredicate)
        let cause = try #require(computed?.underlyingError as? LarderError)
        #expect(cause.code == .unsupportedPredicate)
        #expect(computed?.description.contains(cause.message) == true)
        let sorted = FetchDescriptor<Article>(sortBy: [SortDescriptor(\.hashValue)])
        let order = #expect(throws: SwiftDataError.self) { try context.fetch(sorted) }
        #expect(order == .unsupportedSortDescriptor)
        #expect(order?.underlyingError == nil)
        #expect(SwiftDataError.unsupportedPredicate.underlyingError == nil)
    }

    @Test("an order by a computed property is refused, and the error names it")
    func sortDescriptor() throws {
        let context = ModelContext(try makeContainer())
        let sorted = FetchDescriptor<Article>(sortBy: [SortDescriptor(\.hashValue)])
        #expect(
            description(.unsupportedSortDescriptor) { _ = try context.fetch(sorted) }
                .contains("Article cannot be sorted by"))
    }

    @Test("prefetching what is not a persisted property is refused, and the error names it")
    func keyPath() throws {
        let context = ModelContext(try makeContainer())
        var descriptor = FetchDescriptor<Article>()
        descriptor.relationshipKeyPathsForPrefetching = [\.isShown]
        #expect(
            description(.unsupportedKeyPath) { _ = try context.fetch(descriptor) }
                .contains("Article has no property at"))
    }

    @Test("two configurations of one file are refused, and two in memory are not")
    func duplicates() throws {
        let place = FileManager.default.temporaryDirectory.appending(path: "a.store")
        let configuration = ModelConfiguration(url: place)
        #expect(throws: SwiftDataError.duplicateConfiguration) {
            try ModelContainer(
                for: Schema([Single.self]), configurations: [configuration, configuration])
        }
        #expect(!FileManager.default.fileExists(atPath: place.path))
    }

    @Test("a configuration whose name is not that of a file is refused")
    func names() throws {
        let long = ModelConfiguration(String(repeating: "n", count: 300))
        #expect(
            description(.configurationFileNameTooLong, long.validate).contains("at most 255"))
        for name in ["a/b", "", ".", "..", "a\0b"] {
            let configuration = ModelConfiguration(name)
            #expect(
                description(
                    .configurationFileNameContainsInvalidCharacters, configuration.validate
                ).contains("cannot be the name of a file"), "\(name)")
            #expect(throws: SwiftDataError.configurationFileNameContainsInvalidCharacters) {
                try ModelContainer(for: Single.self, configurations: configuration)
            }
        }
        #expect(throws: Never.self) { try ModelConfiguration("notes").validate() }
        #expect(throws: Never.self) {
            try ModelConfiguration("a/b", isStoredInMemoryOnly: true).validate()
        }
    }

    @Test("a configuration with an entity that the container does not have is refused")
    func foreignSchema() {
        #expect(throws: SwiftDataError.configurationSchemaNotFoundInContainerSchema) {
            try ModelContainer(
                for: Schema([Single.self]),
                configurations: [
                    ModelConfiguration(schema: Schema([Node.self]), isStoredInMemoryOnly: true)
                ])
        }
    }

    @Test("a save that breaks a rule is refused, the error names it, and the changes are kept")
    func validation() throws {
        let context = ModelContext(
            try ModelContainer(
                for: Unusual.self,
                configurations: ModelConfiguration(isStoredInMemoryOnly: true)))
        let unusual = Unusual()
        context.insert(unusual)
        let text = description(.modelValidationFailure, context.save)
        #expect(text.contains("nodes"))
        #expect(context.hasChanges)
        unusual.nodes = [Node()]
        try context.save()
        #expect(!context.hasChanges)
    }

    @Test("a migration plan that leads forth and back is refused")
    func backwardMigration() {
        let text = description(.backwardMigration) {
            _ = try ModelContainer(
                for: Schema(versionedSchema: PeopleV1.self), migrationPlan: BackwardPlan.self,
                configurations: ModelConfiguration(isStoredInMemoryOnly: true))
        }
        #expect(text.contains("from version 2.0.0 to 1.0.0"), "\(text)")
    }

    @Test("a migration stage with a schema that its plan does not list is refused")
    func unknownSchema() {
        let text = description(.unknownSchema) {
            _ = try ModelContainer(
                for: Schema(versionedSchema: PeopleV2.self), migrationPlan: UnlistedPlan.self,
                configurations: ModelConfiguration(isStoredInMemoryOnly: true))
        }
        #expect(text.contains("PeopleV1"), "\(text)")
    }
}

private enum BackwardPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [PeopleV1.self, PeopleV2.self] }
    static var stages: [MigrationStage] {
        [
            .lightweight(fromVersion: PeopleV1.self, toVersion: PeopleV2.self),
            .lightweight(fromVersion: PeopleV2.self, toVersion: PeopleV1.self),
        ]
    }
}

private enum UnlistedPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [PeopleV2.self] }
    static var stages: [MigrationStage] {
        [.lightweight(fromVersion: PeopleV1.self, toVersion: PeopleV2.self)]
    }
}
