import Foundation
import LarderModel
import LarderObjects
import SwiftData
import Synchronization

/// A store in memory that counts what is read of it, and whose reads fail on demand.
final class CountingStore: ObjectStore {
    private let store: EngineStore
    private let counts = Mutex((requests: 0, columns: [String]()))

    init(_ schema: SwiftData.Schema) throws { store = try EngineStore(schema.larderSchema()) }

    var requestCount: Int { counts.withLock { $0.requests } }

    /// The names of the columns that were read, in order, each as often as it was in a batch.
    var columns: [String] { counts.withLock { $0.columns } }

    private let readable = Mutex<Int?>(nil)

    /// The number of reads of objects before these fail; nil if they do not.
    var readsLeft: Int? {
        get { readable.withLock { $0 } }
        set { readable.withLock { $0 = newValue } }
    }

    func reset() { counts.withLock { $0 = (0, []) } }

    private func counted(_ batches: [Batch]) -> [Batch] {
        counts.withLock {
            $0.requests += 1
            $0.columns += batches.flatMap { $0.columns.map(\.name) }
        }
        return batches
    }

    var identifier: UUID { store.identifier }
    var schema: LarderModel.Schema { store.schema }
    var isReadOnly: Bool { store.isReadOnly }

    func batches(_ query: Query, _ parameters: QueryParameters) throws(LarderError) -> [Batch] {
        counted(try store.batches(query, parameters))
    }

    func objects(
        _ identifiers: [PersistentIdentifier], properties: [String]?
    ) throws(LarderError) -> [Batch] {
        if let left = readsLeft {
            guard left > 0 else { throw LarderError(.storageFailed, "the disk cannot be read") }
            readsLeft = left - 1
        }
        return counted(try store.objects(identifiers, properties: properties))
    }

    func save(_ changes: ChangeSet) throws(LarderError) -> SaveResult { try store.save(changes) }

    func history(
        _ fetch: HistoryFetch, objects: [HistoryObjects]
    ) throws(LarderError) -> History { try store.history(fetch, objects: objects) }

    func deleteHistory(_ deletion: HistoryDeletion) throws(LarderError) -> Int64 {
        try store.deleteHistory(deletion)
    }

    func currentToken() throws(LarderError) -> LarderModel.HistoryToken {
        try store.currentToken()
    }

    func observeCommits(
        _ body: @escaping @Sendable (LarderModel.HistoryTransaction) -> Void
    ) -> any AnyObject & Sendable { store.observeCommits(body) }

    func snapshot<Result>(_ body: (any ObjectStore) throws -> Result) throws -> Result {
        try store.snapshot(body)
    }

    func erase() throws(LarderError) { try store.erase() }
}
