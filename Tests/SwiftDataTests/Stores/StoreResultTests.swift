import Foundation
import SwiftData
import Testing

@Suite("What stores are given and return")
struct StoreResultTests {
    private let schema = Schema([Category.self, Article.self, Tag.self, Note.self])

    private func store() throws -> DefaultStore {
        try DefaultStore(
            ModelConfiguration("own", schema: schema, isStoredInMemoryOnly: true))
    }

    private func snapshot<Model: PersistentModel>(_ model: Model) -> DefaultSnapshot {
        var related: [PersistentIdentifier: any BackingData] = [:]
        return DefaultSnapshot(
            from: model.persistentBackingData, relatedBackingDatas: &related)
    }

    @Test("has the name, the schema and the identifier of its configuration")
    func properties() throws {
        let store = try store()
        let configuration: DefaultStore.Configuration = store.configuration
        #expect(store.name == "own")
        #expect(configuration.name == "own")
        #expect(store.schema == schema)
        #expect(UUID(uuidString: store.identifier) != nil)
        try store.erase()
        let (batching, history): (any DataStoreBatching, any HistoryProviding) = (store, store)
        #expect(batching === history as AnyObject)
        let snapshot: DefaultStore.Snapshot.Type = DefaultSnapshot.self
        let transaction: DefaultStore.HistoryType.Type = DefaultHistoryTransaction.self
        #expect(snapshot == DefaultSnapshot.self && transaction == DefaultStore.historyType)
    }

    @Test("a snapshot has the identifier and the values of a model, and can have another one")
    func snapshots() throws {
        let note = Note(text: "a")
        let snapshot = snapshot(note)
        #expect(snapshot.entityName == "Note")
        #expect(snapshot.persistentIdentifier == note.persistentModelID)
        let permanent = try PersistentIdentifier.identifier(
            for: "store", entityName: "Note", primaryKey: 3)
        let copy = snapshot.copy(persistentIdentifier: permanent)
        #expect(copy.persistentIdentifier == permanent)
        #expect(copy != snapshot)
        let data = try JSONEncoder().encode(copy)
        #expect(try JSONDecoder().decode(DefaultSnapshot.self, from: data) == copy)
        #expect(
            DataStoreSnapshotCodingKey.persistentIdentifier.stringValue == "persistentIdentifier")
        #expect(DataStoreSnapshotCodingKey.modeledProperty("text").stringValue == "text")
        let values: [any DataStoreSnapshotValue] = ["a", 1]
        #expect(values.count == 2)
    }

    @Test("a result of a fetch or a save has what it is made of")
    func results() throws {
        let first = snapshot(Note(text: "a"))
        let found = DataStoreFetchResult(
            descriptor: FetchDescriptor<Note>(), fetchedSnapshots: [first],
            relatedSnapshots: [first.persistentIdentifier: first])
        #expect(found.fetchedSnapshots == [first])
        #expect(found.relatedSnapshots.values.map { $0 } == [first])
        #expect(found.descriptor == FetchDescriptor())
        let permanent = try PersistentIdentifier.identifier(
            for: "store", entityName: "Note", primaryKey: 3)
        let saved = DataStoreSaveChangesResult(
            for: "store", remappedIdentifiers: [first.persistentIdentifier: permanent],
            snapshotsToReregister: [permanent: first])
        #expect(saved.storeIdentifier == "store")
        #expect(saved.remappedIdentifiers == [first.persistentIdentifier: permanent])
        #expect(saved.snapshotsToReregister == [permanent: first])
        #expect(saved.historyToken == nil)
        let container = try makeArchive()
        let context = ModelContext(container)
        context.insert(Parcel(code: "a"))
        try context.save()
        let token = try #require(try context.fetchHistory(Transactions()).last).token
        let withToken = DataStoreSaveChangesResult<DefaultSnapshot>(
            for: "store", historyToken: token)
        #expect(withToken.historyToken as? DefaultHistoryToken == token)
    }

    @Test("the functions that a store need not have do nothing")
    func defaults() throws {
        let store = try store()
        let context = ModelContext(try makeContainer())
        let identifier = Note(text: "a").persistentModelID
        store.initializeState(for: context.editingState)
        store.invalidateState(for: context.editingState)
        #expect(
            try store.cachedSnapshots(for: [identifier], editingState: context.editingState)
                .isEmpty)
    }

    @Test("errors of stores are different cases")
    func errors() {
        let errors: [DataStoreError] = [
            .unsupportedFeature, .preferInMemoryFilter, .preferInMemorySort, .invalidPredicate,
        ]
        #expect(Set(errors).count == 4)
    }
}
