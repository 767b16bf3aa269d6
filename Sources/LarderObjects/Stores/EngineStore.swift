package import FoundationEssentials
internal import Glibc
package import LarderModel
internal import LarderServer
internal import LarderStore
internal import Synchronization

/// A store in memory, in this process, without a server: no threads, loops or sockets.
///
/// Calls run on the calling thread. One lock guards the reader and another the writer, so reads and
/// saves do not wait for each other. The store ends with its last reference.
package final class EngineStore: ObjectStore {
    package let identifier: UUID
    package let schema: Schema
    package let isReadOnly: Bool
    private let store: Store
    private let reader: Mutex<DirectReader>
    private let writer: Mutex<DirectWriter>
    private let delivery = CommitDelivery(after: 0)

    /// - Parameters:
    ///   - name: The client's name in the history.
    ///   - identifier: Of the new store; nil is a random one.
    /// - Throws: `malformedSchema` for a pattern or an expression of the schema that is not valid;
    ///   `storageFailed`, `storageFull`.
    package init(
        _ schema: Schema, name: String = "", isReadOnly: Bool = false, identifier: UUID? = nil
    ) throws(LarderError) {
        var options = StoreOptions()
        options.newIdentifier = identifier
        let store = try Store.inMemory(schema: schema, options: options)
        let source = ChangeSource(
            userIdentifier: getuid(), processIdentifier: getpid(), clientName: name)
        self.store = store
        self.identifier = store.storeDescription.identifier
        self.schema = schema
        self.isReadOnly = isReadOnly
        writer = Mutex(try DirectWriter(store, source: source))
        reader = Mutex(try DirectReader(store))
    }

    package func batches(
        _ query: Query, _ parameters: QueryParameters
    ) throws(LarderError) -> [Batch] {
        try reader.withLock { (reader) throws(LarderError) in
            try reader.batches(query, parameters)
        }
    }

    package func objects(
        _ identifiers: [PersistentIdentifier], properties: [String]?
    ) throws(LarderError) -> [Batch] {
        try ObjectReads.batches(of: identifiers) { (part) throws(LarderError) in
            try reader.withLock { (reader) throws(LarderError) in
                try reader.objects(part, properties: properties)
            }
        }
    }

    package func save(_ changes: ChangeSet) throws(LarderError) -> SaveResult {
        guard !isReadOnly else { throw .readOnlyStore }
        let result = try writer.withLock { (writer) throws(LarderError) in
            try writer.save(changes)
        }
        if let number = result.transaction {
            delivery.committed(number) { transactions(after: $0) }
        }
        return result
    }

    /// The transactions that are still in the history.
    private func transactions(after number: Int64) -> [HistoryTransaction] {
        // The epoch is that of the store; see `HistoryToken.check`. Reads of a store in memory have
        // no disk or connection that could fail.
        guard let current = try? currentToken() else { return [] }
        let token = HistoryToken(store: identifier, epoch: current.epoch, number: number)
        return (try? history(HistoryFetch(after: token), objects: []))?.transactions ?? []
    }

    package func history(
        _ fetch: HistoryFetch, objects: [HistoryObjects]
    ) throws(LarderError) -> History {
        try reader.withLock { (reader) throws(LarderError) in
            try reader.history(fetch, objects: objects)
        }
    }

    @discardableResult
    package func deleteHistory(_ deletion: HistoryDeletion) throws(LarderError) -> Int64 {
        guard !isReadOnly else { throw .readOnlyStore }
        return try writer.withLock { (writer) throws(LarderError) in
            try writer.deleteHistory(deletion)
        }
    }

    package func currentToken() throws(LarderError) -> HistoryToken {
        try history(HistoryFetch(newestFirst: true, limit: 0), objects: []).position
    }

    package func observeCommits(
        _ body: @escaping @Sendable (HistoryTransaction) -> Void
    ) -> any AnyObject & Sendable {
        delivery.observe(body)
    }

    package func snapshot<Result>(
        _ body: (any ObjectStore) throws -> Result
    ) throws -> Result {
        try body(EngineSnapshot(of: store, schema))
    }

    package func erase() throws(LarderError) { try eraseByChanges() }
}
