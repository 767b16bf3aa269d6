import Foundation
import Observation
import SwiftData
import Testing

/// The functions compile if the types conform; the tests are about what follows from it.
@Suite("The types conform to the documented protocols")
struct ConformanceListTests {
    private func isCodable<T: Codable & Hashable & Sendable>(_: T.Type) {}
    private func isHashable<T: Hashable>(_: T.Type) {}
    private func isSendable<T: Sendable>(_: T.Type) {}
    private func isEquatable<T: Equatable>(_: T.Type) {}
    private func isDebuggable<T: CustomDebugStringConvertible>(_: T.Type) {}
    private func isObservable<T: AnyObject & Observable>(_: T.Type) {}
    private func isSchemaProperty<T: SchemaProperty>(_: T.Type) {}

    @Test("configurations, containers and contexts conform to the documented protocols")
    func containers() {
        isHashable(ModelConfiguration.self)
        isSendable(ModelConfiguration.self)
        isDebuggable(ModelConfiguration.self)
        isSendable(ModelConfiguration.CloudKitDatabase.self)
        isSendable(ModelConfiguration.GroupContainer.self)
        isSendable(ModelContainer.self)
        isEquatable(ModelContainer.self)
        isEquatable(ModelContext.self)
        isEquatable(FetchDescriptor<Article>.self)
        isSendable(FetchDescriptor<Article>.self)
        isSendable(EditingState.self)
        let places: Set<ModelConfiguration.ID> = [ModelConfiguration(isStoredInMemoryOnly: true).id]
        #expect(places == [URL(filePath: "/dev/null")])
        let store: ModelConfiguration.Store.Type = DefaultStore.self
        #expect(store == DefaultStore.self)
    }

    @Test("schemas and their properties conform to the documented protocols")
    func schemas() {
        isCodable(Schema.self)
        isDebuggable(Schema.self)
        isCodable(Schema.Version.self)
        isDebuggable(Schema.Entity.self)
        isSendable(Schema.Entity.self)
        isSchemaProperty(Schema.Attribute.self)
        isDebuggable(Schema.Attribute.self)
        isSendable(Schema.Attribute.self)
        isCodable(Schema.Attribute.Option.self)
        isSchemaProperty(Schema.Relationship.self)
        isDebuggable(Schema.Relationship.self)
        isSendable(Schema.Relationship.self)
        isCodable(Schema.Relationship.Option.self)
        isCodable(Schema.Relationship.DeleteRule.self)
        isSchemaProperty(Schema.Index<Article>.self)
        isSchemaProperty(Schema.Unique<Article>.self)
        isSendable(MigrationStage.self)
    }

    @Test("identifiers, histories and errors conform to the documented protocols")
    func values() throws {
        isCodable(PersistentIdentifier.self)
        isHashable(PersistentIdentifier.ID.self)
        isCodable(DefaultHistoryToken.self)
        isHashable(DefaultHistoryTransaction.self)
        isSendable(HistoryChange.self)
        isSendable(HistoryTombstone<Article>.self)
        isHashable(SwiftDataError.self)
        isHashable(DataStoreError.self)
        isObservable(HistoryObserver.self)
        isSendable(HistoryObserver.self)
        isObservable(ResultsObserver<Article, Never>.self)
        isDebuggable(ResultsObserver<Article, Never>.self)
        isSendable(DefaultSerialModelExecutor.self)
        let token: DefaultHistoryToken.TokenType = ["a": 1]
        #expect(token["a"] == 1)
        let number: DefaultHistoryTransaction.TransactionIdentifier = 1
        #expect(number == Int64(1))
    }

    private func isStore<T: DataStore & DataStoreBatching & HistoryProviding>(_: T.Type) {}
    private func isSnapshot<T: DataStoreSnapshot & Codable & Sendable>(_: T.Type) {}
    private func isCodingKey<T: CodingKey>(_: T.Type) {}
    private func isConfiguration<T: DataStoreConfiguration & Hashable>(_: T.Type) {}
    private func isIdentifiable<T: Identifiable>(_: T.Type) where T.ID == UUID {}

    @Test("stores, and their requests and results, conform to the documented protocols")
    func stores() {
        isStore(DefaultStore.self)
        isConfiguration(ModelConfiguration.self)
        isSnapshot(DefaultSnapshot.self)
        isCodingKey(DataStoreSnapshotCodingKey.self)
        isIdentifiable(EditingState.self)
        isSendable(DataStoreFetchRequest<Article>.self)
        isSendable(DataStoreFetchResult<Article, DefaultSnapshot>.self)
        isSendable(DataStoreSaveChangesRequest<DefaultSnapshot>.self)
        isSendable(DataStoreSaveChangesResult<DefaultSnapshot>.self)
        isSendable(DataStoreBatchDeleteRequest<Article>.self)
        let values: [any DataStoreSnapshotValue] = ["a", 1, Source(site: "a", rank: 1)]
        #expect(values.count == 3)
    }

    private func name<Model: PersistentModel>(_: Model.Type) -> String { "\(Model.Root.self)" }

    @Test("models are observable, and the root of a hierarchy is its topmost class")
    func models() {
        isObservable(Article.self)
        isHashable(Article.self)
        #expect(name(Article.self) == "Article")
        #expect(name(Puppy.self) == "Animal")
    }
}
