package import FoundationEssentials
package import LarderModel

/// A store as a context of objects sees it: queries in, batches out; change sets in, results out.
///
/// `ClientStore` is a client of a server, `EngineStore` the engine of a store in memory in this
/// process. Stores that others write are adapted in the module `SwiftData`. Every call blocks until
/// its result is there. It may be used from any thread.
package protocol ObjectStore: AnyObject, Sendable {
    /// The identifier of the store, which completes the keys of batches.
    var identifier: UUID { get }

    var schema: Schema { get }

    var isReadOnly: Bool { get }

    /// The whole result of a query. Batches of prefetched objects come before the rows that refer
    /// to them.
    func batches(_ query: Query, _ parameters: QueryParameters) throws(LarderError) -> [Batch]

    /// The elements that a closure makes of each batch of a result, in order. It may be called
    /// while the store reads the next batch, and again for the first one if the store has to begin
    /// again.
    func elements<Element>(
        of query: Query, _ parameters: QueryParameters, _ make: (Batch) -> [Element]
    ) throws(LarderError) -> [Element]

    /// The form for a fetch of a context. A store that others write uses the fetch's source.
    func elements<Element>(
        of fetch: ObjectFetch, _ selection: Fetch.Selection, limit: Int?, offset: Int?,
        _ make: (Batch) -> [Element]
    ) throws(LarderError) -> [Element]

    /// The number of objects that match, without limit and offset.
    func count(_ fetch: ObjectFetch) throws(LarderError) -> Int64

    /// The existing objects among these, one batch per entity, with these properties (nil for every
    /// attribute and relationship, to-many included).
    func objects(
        _ identifiers: [PersistentIdentifier], properties: [String]?
    ) throws(LarderError) -> [Batch]

    /// Applies a change set as one transaction, or nothing of it.
    ///
    /// With an idempotency key, a save whose reply is lost is repeated and applied once.
    func save(_ changes: ChangeSet) throws(LarderError) -> SaveResult

    /// Applies a change set that deletes the objects that matched a fetch of a context, and changes
    /// nothing else. A store that others write may delete them without reading them.
    func save(_ changes: ChangeSet, deleting fetch: ObjectFetch) throws(LarderError) -> SaveResult

    func history(_ fetch: HistoryFetch, objects: [HistoryObjects]) throws(LarderError) -> History

    @discardableResult
    func deleteHistory(_ deletion: HistoryDeletion) throws(LarderError) -> Int64

    /// The position after the newest transaction.
    func currentToken() throws(LarderError) -> HistoryToken

    /// Calls a closure after each commit of any client, in order, on any thread. A store in memory
    /// calls it before `save` returns.
    ///
    /// - Returns: an object that ends the observation when it is released.
    func observeCommits(
        _ body: @escaping @Sendable (HistoryTransaction) -> Void
    ) -> any AnyObject & Sendable

    /// Calls a closure with the store as it is at this moment: its reads see this state, whatever
    /// is saved meanwhile, and it accepts no changes.
    ///
    /// - Throws: what the closure throws. A read in it throws `snapshotExpired` if a server could
    ///   not keep the state any longer.
    func snapshot<Result>(_ body: (any ObjectStore) throws -> Result) throws -> Result

    /// Deletes all objects and the history.
    func erase() throws(LarderError)
}

extension ObjectStore {
    package func elements<Element>(
        of query: Query, _ parameters: QueryParameters, _ make: (Batch) -> [Element]
    ) throws(LarderError) -> [Element] {
        try batches(query, parameters).flatMap(make)
    }

    package func elements<Element>(
        of fetch: ObjectFetch, _ selection: Fetch.Selection, limit: Int?, offset: Int?,
        _ make: (Batch) -> [Element]
    ) throws(LarderError) -> [Element] {
        // Only whole objects have related ones.
        let prefetch = selection == .objects ? fetch.prefetch : []
        var selection = selection
        if selection == .objects, prefetch.isEmpty, let names = fetch.properties {
            selection =
                names.isEmpty
                ? .identifiers
                : .columns(names.map { QueryColumn(.tree(.keyPath(.object, [$0])), name: $0) })
        }
        return try elements(
            of: fetch.query(selection, prefetch: prefetch),
            fetch.parameters(limit: limit, offset: offset, self), make)
    }

    package func count(_ fetch: ObjectFetch) throws(LarderError) -> Int64 {
        try count(fetch.countQuery, fetch.parameters(limit: nil, offset: nil, self))
    }

    package func save(
        _ changes: ChangeSet, deleting fetch: ObjectFetch
    ) throws(LarderError) -> SaveResult { try save(changes) }

    /// The number of objects that a query counts.
    package func count(_ query: Query, _ parameters: QueryParameters) throws(LarderError) -> Int64 {
        guard let batch = try batches(query, parameters).first, batch.rowCount == 1,
            case .int(let count)? = batch.rows(store: identifier).first?["count"]
        else { throw LarderError(.malformedMessage, "a count has no number") }
        return count
    }
}
