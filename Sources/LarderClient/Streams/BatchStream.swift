public import LarderModel

/// The answer to a query, batch by batch.
///
/// The server sends a few batches ahead and goes on as they are taken, so memory stays bounded on
/// both sides; other calls on the same client proceed meanwhile. A stream ends with nil, with an
/// error, or by ``cancel()``, which also happens when it is dropped. If the connection is lost
/// before the first batch was taken, the query is asked again; later, the stream fails with
/// `connectionFailed`.
public final class BatchStream: Sendable {
    private let source: StreamSource
    /// Keeps the client, and so its connection, for as long as the stream is read.
    private let client: StoreClient

    init(source: StreamSource, client: StoreClient) {
        self.source = source
        self.client = client
    }

    deinit { source.cancel() }

    /// The next rows, blocking; nil after the last. The first batch is given even if it is empty,
    /// so that the columns are known. Prefetched objects come in batches in front of the rows that
    /// refer to them, see ``Batch/relatedBy``.
    public func next() throws(LarderError) -> Batch? { try source.next() }

    /// The next rows; nil after the last.
    public func next() async throws(LarderError) -> Batch? { try await source.next() }

    /// Ends the stream; ``next()-()`` gives nil from then on.
    public func cancel() { source.cancel() }

    /// The batches as an asynchronous sequence; leaving the loop early cancels the stream.
    public var batches: Batches { Batches(stream: self) }

    /// See ``BatchStream/batches``.
    public struct Batches: AsyncSequence, Sendable {
        public typealias Element = Batch
        public typealias Failure = LarderError

        let stream: BatchStream

        public func makeAsyncIterator() -> Iterator { Iterator(ending: Ending(stream: stream)) }
    }

    /// See ``BatchStream/batches``.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let ending: Ending

        public func next(
            isolation actor: isolated (any Actor)?
        ) async throws(LarderError) -> Batch? {
            try await ending.stream.next()
        }
    }

    /// Cancels the stream when its iterator goes, which is how a loop is left early.
    fileprivate final class Ending: Sendable {
        let stream: BatchStream

        init(stream: BatchStream) { self.stream = stream }

        deinit { stream.cancel() }
    }
}
