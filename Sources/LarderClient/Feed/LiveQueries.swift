public import LarderModel
import LarderQuery
internal import LarderWire
import Synchronization

/// The result of a fetch, and each change of it.
///
/// The first result is that of the fetch; the next ones follow the commits that change it, also
/// those of other processes. After a lost connection the fetch is observed again, and the next
/// result has the difference to the last one. It ends by ``cancel()``, which releasing it also
/// does, or with an error. One thread or task at a time may use it.
public final class LiveResults: Sendable {
    private let follower: Follower
    private let state: Mutex<LiveRows>

    init(
        _ fetch: Fetch, _ parameters: QueryParameters, sectionedBy section: SortKey?,
        every interval: Duration, client: StoreClient
    ) {
        var fetch = fetch
        if let section { fetch.sort.insert(section, at: 0) }
        follower = .observing(
            .fetch(fetch), parameters, isSectioned: section != nil, every: interval, client,
            hasObjects: true)
        state = Mutex(LiveRows(sectionOrder: section.map { SortDirection($0) }))
    }

    /// The next result, blocking until there is one; nil after ``cancel()``, or if there was none
    /// in time.
    ///
    /// - Parameter timeout: How long to wait; nil is without a limit.
    /// - Throws: the errors of the fetch; `unsupported` for one that cannot be observed;
    ///   `resourceExhausted` for a result that is too large, or too many observers; errors of the
    ///   connection that trying again does not resolve. The results have ended then.
    public func next(timeout: Duration? = nil) throws(LarderError) -> LiveResult? {
        try follower.next(timeout: timeout, received)
    }

    /// The asynchronous form.
    ///
    /// - Throws: what the blocking form throws, and `cancelled` if the task is cancelled.
    public func next(timeout: Duration? = nil) async throws(LarderError) -> LiveResult? {
        try await follower.next(timeout: timeout, received)
    }

    /// Ends the results; `next(timeout:)` returns nil from then on.
    public func cancel() { follower.cancel() }

    private func received(_ event: Follower.Event) throws(LarderError) -> LiveResult? {
        guard let reply = try event.observed() else { return nil }
        return try state.withLock { (rows) throws(LarderError) in try rows.apply(reply) }
    }
}

extension LiveResults: AsyncSequence {
    public typealias Element = LiveResult
    public typealias Failure = LarderError

    public func makeAsyncIterator() -> Iterator { Iterator(results: self) }

    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let results: LiveResults

        public func next(
            isolation actor: isolated (any Actor)?
        ) async throws(LarderError) -> LiveResult? {
            try await results.next()
        }
    }
}

/// The rows of a count, an aggregate or a fetch of values, and their new values after each commit
/// that changes them. As ``LiveResults``, but each result is whole.
public final class LiveValues: Sendable {
    private let follower: Follower
    /// The rows of a result of which more follows; nil if none is under way.
    private let incoming = Mutex<[Row]?>(nil)

    init(
        _ query: Query, _ parameters: QueryParameters, every interval: Duration,
        client: StoreClient
    ) {
        follower = .observing(query, parameters, every: interval, client, hasObjects: false)
    }

    /// The next rows, blocking until there are some; nil after ``cancel()``, or if there were none
    /// in time.
    ///
    /// - Throws: as `LiveResults.next(timeout:)` does.
    public func next(timeout: Duration? = nil) throws(LarderError) -> [Row]? {
        try follower.next(timeout: timeout, received)
    }

    /// The asynchronous form.
    ///
    /// - Throws: what the blocking form throws, and `cancelled` if the task is cancelled.
    public func next(timeout: Duration? = nil) async throws(LarderError) -> [Row]? {
        try await follower.next(timeout: timeout, received)
    }

    /// Ends the results; `next(timeout:)` returns nil from then on.
    public func cancel() { follower.cancel() }

    private func received(_ event: Follower.Event) throws(LarderError) -> [Row]? {
        guard let reply = try event.observed() else { return nil }
        return try incoming.withLock { (incoming) throws(LarderError) in
            var rows = reply.begins ? [] : incoming
            rows? += reply.rows?.rows(store: reply.position.store) ?? []
            guard let rows else { throw .unexpectedReply }
            incoming = reply.ends ? nil : rows
            return reply.ends ? rows : nil
        }
    }
}

extension LiveValues: AsyncSequence {
    public typealias Element = [Row]
    public typealias Failure = LarderError

    public func makeAsyncIterator() -> Iterator { Iterator(values: self) }

    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let values: LiveValues

        public func next(
            isolation actor: isolated (any Actor)?
        ) async throws(LarderError) -> [Row]? {
            try await values.next()
        }
    }
}

extension Follower {
    fileprivate static func observing(
        _ query: Query, _ parameters: QueryParameters, isSectioned: Bool = false,
        every interval: Duration, _ client: StoreClient, hasObjects: Bool
    ) -> Follower {
        let milliseconds = UInt32(clamped: interval / .milliseconds(1))
        return Follower(client: client) { () throws(LarderError) in
            guard query.changesByObject == hasObjects else {
                throw LarderError(
                    .unsupported,
                    hasObjects
                        ? "the rows of the query are not objects" : "the query fetches objects",
                    hint: hasObjects ? "use observeValues" : "use observe")
            }
            return .observe(
                ObserveRequest(
                    try QueryRequest(query, parameters, credit: Follower.window),
                    intervalMilliseconds: milliseconds, isSectioned: isSectioned))
        }
    }
}

extension Query {
    /// Whether the server reports how single rows change, and not only the whole result again.
    fileprivate var changesByObject: Bool {
        guard case .fetch(let fetch) = self, !fetch.isDistinct else { return false }
        return if case .values = fetch.selection { false } else { true }
    }
}

extension Follower.Event {
    /// The reply about an observed query; nil if the connection was lost.
    fileprivate func observed() throws(LarderError) -> ObserveReply? {
        switch self {
        case .interrupted: return nil
        case .reply(.observed(let reply, more: true)): return reply
        case .reply: throw .unexpectedReply
        }
    }
}

extension StoreClient {
    /// The result of a fetch, and each change of it by a commit, also of other processes.
    ///
    ///     let articles = client.observe(
    ///         Fetch("Article", sort: ["title"]), sectionedBy: "category.name")
    ///     for try await result in articles {
    ///         for section in result.sections {
    ///             show(section.value, result.rows[section.range])
    ///         }
    ///     }
    ///
    /// - Parameters:
    ///   - fetch: The fetch. It does not prefetch and is not distinct.
    ///   - parameters: Its arguments and its limit. An offset or a cursor cannot be observed.
    ///   - section: The expression whose values divide the rows into sections, for example
    ///     `"category.name"`; a sort key that is descending reverses the sections. The rows are
    ///     sorted by it first, and then as the fetch says: in messages it is sort key 1, and its
    ///     arguments precede those of the fetch's sort keys.
    ///   - interval: The shortest time between two results; zero is one for each commit.
    public func observe(
        _ fetch: Fetch, _ parameters: QueryParameters = QueryParameters(),
        sectionedBy section: SortKey? = nil, every interval: Duration = .zero
    ) -> LiveResults {
        LiveResults(fetch, parameters, sectionedBy: section, every: interval, client: self)
    }

    /// The rows of a count, an aggregate or a fetch of values, and their new values after each
    /// commit that changes them.
    ///
    /// - Parameter interval: The shortest time between two results; zero is one for each commit.
    public func observeValues(
        _ query: Query, _ parameters: QueryParameters = QueryParameters(),
        every interval: Duration = .zero
    ) -> LiveValues {
        LiveValues(query, parameters, every: interval, client: self)
    }
}
