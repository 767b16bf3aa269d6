import Foundation
import SwiftData
import Testing

@Suite("What stores are given and return")
struct StoreResultTests {
    @Test("a snapshot has the identifier and the values of a model, and can have another one")
    func snapshots() throws {
        let note = Note(text: "a")
        let snapshot = DefaultSnapshot(of: note)
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

    @Test("the result of a fetch or a save of a store has the parts that it was made from")
    func results() throws {
        let first = DefaultSnapshot(of: Note(text: "a"))
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

    @Test("the optional functions of a store do nothing by default")
    func defaults() throws {
        let store = try makeDefaultStore()
        let context = ModelContext(try makeContainer())
        let identifier = Note(text: "a").persistentModelID
        store.initializeState(for: context.editingState)
        store.invalidateState(for: context.editingState)
        #expect(
            try store.cachedSnapshots(for: [identifier], editingState: context.editingState)
                .isEmpty)
    }

    @Test("the errors of stores are different cases")
    func errors() {
        let errors: [DataStoreError] = [
            .unsupportedFeature, .preferInMemoryFilter, .preferInMemorySort, .invalidPredicate,
        ]
        #expect(Set(errors).count == 4)
    }
}
