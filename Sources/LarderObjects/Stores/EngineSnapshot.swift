internal import FoundationEssentials
internal import LarderModel
internal import LarderServer
internal import LarderStore
internal import Synchronization

/// One state of a store in memory, which ends with the object.
final class EngineSnapshot: ObjectStore {
    let identifier: UUID
    let schema: Schema
    let isReadOnly = true
    private let reader: Mutex<DirectReader>

    init(of store: Store, _ schema: Schema) throws(LarderError) {
        identifier = store.storeDescription.identifier
        self.schema = schema
        reader = Mutex(try DirectReader(snapshotOf: store))
    }

    func batches(_ query: Query, _ parameters: QueryParameters) throws(LarderError) -> [Batch] {
        try reader.withLock { (reader) throws(LarderError) in
            try reader.batches(query, parameters)
        }
    }

    func objects(
        _ identifiers: [PersistentIdentifier], properties: [String]?
    ) throws(LarderError) -> [Batch] {
        try ObjectReads.batches(of: identifiers) { (part) throws(LarderError) in
            try reader.withLock { (reader) throws(LarderError) in
                try reader.objects(part, properties: properties)
            }
        }
    }

    func history(
        _ fetch: HistoryFetch, objects: [HistoryObjects]
    ) throws(LarderError) -> History {
        try reader.withLock { (reader) throws(LarderError) in
            try reader.history(fetch, objects: objects)
        }
    }

    func currentToken() throws(LarderError) -> HistoryToken {
        try history(HistoryFetch(newestFirst: true, limit: 0), objects: []).position
    }

    /// A snapshot does not change.
    func observeCommits(
        _ body: @escaping @Sendable (HistoryTransaction) -> Void
    ) -> any AnyObject & Sendable { self }

    func snapshot<Result>(_ body: (any ObjectStore) throws -> Result) throws -> Result {
        try body(self)
    }

    func save(_ changes: ChangeSet) throws(LarderError) -> SaveResult { throw .readOnlyStore }

    func deleteHistory(_ deletion: HistoryDeletion) throws(LarderError) -> Int64 {
        throw .readOnlyStore
    }

    func erase() throws(LarderError) { throw .readOnlyStore }
}
