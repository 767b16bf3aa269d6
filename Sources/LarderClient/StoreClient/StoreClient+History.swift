public import LarderModel
internal import LarderWire

/// The history: which transactions have changed what. Each call has a blocking and an asynchronous
/// form.
extension StoreClient {
    /// Transactions of the history.
    ///
    /// The result is in memory; use a limit for a long history, and continue at its position.
    ///
    /// - Parameter objects: For some entities, the objects whose changes to return, with their
    ///   values; at most one fetch for an entity.
    /// - Throws: `tokenExpired` if transactions after the token have been deleted, `foreignToken`
    ///   for a token of another store, `futureToken`; `unknownEntity` or `unknownProperty` for a
    ///   name in the filter; errors of the fetches of objects, `unsupported` for one with an order
    ///   or a limit.
    public func history(
        _ fetch: HistoryFetch = HistoryFetch(), objects: [HistoryObjects] = []
    ) throws(LarderError) -> History {
        try session.run(HistoryExchange(fetch, objects))
    }

    /// The asynchronous form.
    ///
    /// - Throws: what the blocking form throws, and `cancelled` if the task is cancelled.
    public func history(
        _ fetch: HistoryFetch = HistoryFetch(), objects: [HistoryObjects] = []
    ) async throws(LarderError) -> History {
        try await session.run(HistoryExchange(fetch, objects))
    }

    /// The position after the last transaction that is committed.
    ///
    /// - Throws: errors of the connection and the server only.
    public func currentToken() throws(LarderError) -> HistoryToken {
        try history(HistoryFetch(newestFirst: true, limit: 0)).position
    }

    /// The asynchronous form.
    ///
    /// - Throws: errors of the connection and the server only.
    public func currentToken() async throws(LarderError) -> HistoryToken {
        try await history(HistoryFetch(newestFirst: true, limit: 0)).position
    }

    /// Deletes the oldest transactions of the history, in several commits. The newest transaction
    /// is never deleted.
    ///
    /// - Returns: the number of transactions that were deleted.
    /// - Throws: `foreignToken`, `futureToken`; `timeout` if some are deleted and the time was not
    ///   enough for all; `readOnly`.
    @discardableResult
    public func deleteHistory(_ deletion: HistoryDeletion) throws(LarderError) -> Int64 {
        try session.perform(.deleteHistory(deletion))
    }

    /// The asynchronous form.
    ///
    /// - Throws: as the blocking form does.
    @discardableResult
    public func deleteHistory(_ deletion: HistoryDeletion) async throws(LarderError) -> Int64 {
        try await session.perform(.deleteHistory(deletion))
    }

    /// The transactions after a position, and then each one as it is committed.
    ///
    /// - Parameters:
    ///   - token: Where to begin; nil is after the last transaction that is committed when the
    ///     server receives the request, which it does when the first event is awaited.
    ///   - filter: Which transactions and changes to return.
    ///   - objects: For some entities, the objects whose changes to return, with their values; at
    ///     most one fetch for an entity.
    ///   - includesChanges: Whether the transactions have their changes.
    public func changes(
        after token: HistoryToken? = nil, where filter: HistoryFilter = HistoryFilter(),
        objects: [HistoryObjects] = [], includesChanges: Bool = true
    ) -> ChangeFeed {
        ChangeFeed(
            HistoryFetch(after: token, where: filter, includesChanges: includesChanges),
            objects, startsNow: token == nil, client: self)
    }
}

extension [HistoryObjects] {
    func requests() throws(LarderError) -> [QueryRequest] {
        var requests: [QueryRequest] = []
        for objects in self {
            requests.append(try QueryRequest(.fetch(objects.fetch), objects.parameters))
        }
        return requests
    }
}
