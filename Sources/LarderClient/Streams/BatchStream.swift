package import FoundationEssentials
public import LarderModel

/// The result of a query, batch by batch.
///
/// The server sends a few batches ahead and continues as they are taken, so memory is bounded on
/// both sides, and other calls on the same client proceed. A stream ends with nil, with
/// an error, or by ``cancel()``, which releasing the stream also does. If the connection is lost
/// before the first batch is taken, the query is sent again; after it, the stream throws
/// `connectionFailed`.
public final class BatchStream: Sendable {
    private let source: StreamSource
    /// The stream keeps the client, and so its connection, alive.
    private let client: StoreClient

    init(source: StreamSource, client: StoreClient) {
        self.source = source
        self.client = client
    }

    deinit { source.cancel() }

    /// The next rows, blocking; nil after the last.
    ///
    /// The first batch may be empty, and then shows the columns. Batches of prefetched objects come
    /// before the rows that refer to them; see `Batch.prefetchPath`.
    ///
    /// - Throws: the error of the query with the first batch, `timeout` if a batch takes longer
    ///   than `Options.requestTimeout`, `snapshotExpired`, and `connectionFailed`.
    public func next() throws(LarderError) -> Batch? { try source.next() }

    /// The asynchronous form of `next()`.
    ///
    /// - Throws: what the blocking form throws, and `cancelled` if the task is cancelled.
    public func next() async throws(LarderError) -> Batch? { try await source.next() }

    /// The next rows as objects, blocking; nil after the last. Use `next()` for a query that
    /// prefetches, because batches show which objects are prefetched.
    ///
    /// - Throws: as `next()` does.
    public func nextRecords() throws(LarderError) -> [Record]? {
        try next()?.records(store: storeIdentifier)
    }

    /// The asynchronous form of `nextRecords()`, which throws the same errors and `cancelled`.
    public func nextRecords() async throws(LarderError) -> [Record]? {
        try await next()?.records(store: storeIdentifier)
    }

    /// The next rows, blocking; nil after the last.
    ///
    /// - Throws: as `next()` does.
    public func nextRows() throws(LarderError) -> [Row]? {
        try next()?.rows(store: storeIdentifier)
    }

    /// The asynchronous form of `nextRows()`, which throws the same errors and `cancelled`.
    public func nextRows() async throws(LarderError) -> [Row]? {
        try await next()?.rows(store: storeIdentifier)
    }

    /// The identifier of the store, which completes identifiers of objects.
    package var storeIdentifier: UUID { client.server.storeIdentifier }

    /// Ends the stream; `next()` returns nil from then on.
    public func cancel() { source.cancel() }

    /// The batches as an asynchronous sequence. Leaving the loop early cancels the stream.
    public var batches: Batches { Batches(stream: self) }

    /// See ``BatchStream/batches``.
    public struct Batches: AsyncSequence, Sendable {
        public typealias Element = Batch
        public typealias Failure = LarderError

        let stream: BatchStream

        public func makeAsyncIterator() -> Iterator {
            Iterator(cancellation: Cancellation(stream: stream))
        }
    }

    /// See ``BatchStream/batches``.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let cancellation: Cancellation

        public func next(
            isolation actor: isolated (any Actor)?
        ) async throws(LarderError) -> Batch? {
            try await cancellation.stream.next()
        }
    }

    /// Cancels the stream when its iterator is released, as it is when a loop is left early.
    fileprivate final class Cancellation: Sendable {
        let stream: BatchStream

        init(stream: BatchStream) { self.stream = stream }

        deinit { stream.cancel() }
    }
}
