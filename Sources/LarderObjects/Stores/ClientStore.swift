package import FoundationEssentials
package import LarderClient
package import LarderModel
internal import Synchronization

/// A store that a server serves, over one connection that all threads share.
///
/// Reads are repeated over a new connection if the current one is lost. Every save has an
/// idempotency key, so that it is repeated, too, and happens once. A later save releases the key,
/// because a save whose call has returned is not repeated.
package final class ClientStore: ObjectStore {
    package let identifier: UUID
    package let schema: Schema
    package let isReadOnly: Bool
    /// The connection to the server.
    package let client: StoreClient
    private let feed: CommitFeed
    /// The keys of saves that have returned, until a save has released them.
    private let returnedKeys = Mutex<[String]>([])
    /// Ends with the store; nil if there is nothing to end.
    private let file: StoreFileUse?

    /// - Parameters:
    ///   - schema: That of the client's server; nil reads it.
    ///   - isReadOnly: Whether saves are rejected, also if the server accepts them.
    /// - Throws: `malformedSchema` if the server's schema cannot be read; errors of the connection.
    package convenience init(
        _ client: StoreClient, schema: Schema? = nil, isReadOnly: Bool = false
    ) throws(LarderError) {
        try self.init(client, schema: schema, isReadOnly: isReadOnly, file: nil)
    }

    init(
        _ client: StoreClient, schema: Schema?, isReadOnly: Bool, file: StoreFileUse?
    ) throws(LarderError) {
        self.client = client
        self.schema = if let schema { schema } else { try client.schema() }
        self.isReadOnly = isReadOnly || client.server.isReadOnly
        self.file = file
        identifier = client.server.storeIdentifier
        feed = CommitFeed(client, self.schema)
    }

    deinit {
        guard let file else { return }
        // The feed's thread may have the last reference to the client for a moment.
        client.close()
        file.end()
    }

    package func batches(
        _ query: Query, _ parameters: QueryParameters
    ) throws(LarderError) -> [Batch] {
        try client.batches(query, parameters)
    }

    package func elements<Element>(
        of query: Query, _ parameters: QueryParameters, _ make: (Batch) -> [Element]
    ) throws(LarderError) -> [Element] {
        try client.elements(query, parameters) { batch, _ in make(batch) }
    }

    package func objects(
        _ identifiers: [PersistentIdentifier], properties: [String]?
    ) throws(LarderError) -> [Batch] {
        try ObjectReads.batches(of: identifiers) { (part) throws(LarderError) in
            try client.batches(of: part, properties: properties)
        }
    }

    package func save(_ changes: ChangeSet) throws(LarderError) -> SaveResult {
        guard !isReadOnly else { throw .readOnlyStore }
        guard changes.idempotencyKey.isEmpty else { return try client.save(changes) }
        var keyed = changes
        keyed.idempotencyKey = UUID().uuidString
        keyed.releasedKeys = returnedKeys.withLock { keys in
            defer { keys = [] }
            return keys
        }
        do throws(LarderError) {
            let result = try client.save(keyed)
            didReturn([keyed.idempotencyKey])
            return result
        } catch {
            // A rejected save releases nothing, and one whose reply was lost may be stored.
            didReturn(keyed.releasedKeys + [keyed.idempotencyKey])
            throw error
        }
    }

    private func didReturn(_ keys: [String]) {
        // Keys that no save releases expire by themselves.
        returnedKeys.withLock { $0 = Array(($0 + keys).suffix(Limits.releasedKeysMax)) }
    }

    package func history(
        _ fetch: HistoryFetch, objects: [HistoryObjects]
    ) throws(LarderError) -> History {
        try client.history(fetch, objects: objects)
    }

    @discardableResult
    package func deleteHistory(_ deletion: HistoryDeletion) throws(LarderError) -> Int64 {
        guard !isReadOnly else { throw .readOnlyStore }
        return try client.deleteHistory(deletion)
    }

    package func currentToken() throws(LarderError) -> HistoryToken {
        try client.currentToken()
    }

    package func observeCommits(
        _ body: @escaping @Sendable (HistoryTransaction) -> Void
    ) -> any AnyObject & Sendable {
        feed.observe(body)
    }

    package func snapshot<Result>(
        _ body: (any ObjectStore) throws -> Result
    ) throws -> Result {
        try client.snapshot { client in
            try body(ClientStore(client, schema: schema, isReadOnly: true))
        }
    }

    package func erase() throws(LarderError) { try eraseByChanges() }
}
