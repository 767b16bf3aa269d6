public import LarderModel
import Synchronization

/// An object at one moment.
public struct LiveObject: Hashable, Sendable {
    /// The object with all attributes and to-one relationships; the last values of a deleted one.
    public var record: Record
    public var isDeleted: Bool

    public init(_ record: Record, isDeleted: Bool = false) {
        self.record = record
        self.isDeleted = isDeleted
    }
}

/// An object, and each change of it.
///
/// The last element of a deleted object has its last values and the mark ``LiveObject/isDeleted``;
/// then the sequence ends. One thread or task at a time may use it.
public final class LiveObjects: Sendable {
    private let identifier: PersistentIdentifier
    private let results: LiveResults
    private let hasBegun = Mutex(false)

    init(_ identifier: PersistentIdentifier, every interval: Duration, client: StoreClient) {
        self.identifier = identifier
        let predicate = QueryExpression.comparison(
            Comparison(.object, .equal, .argument(0)))
        results = client.observe(
            Fetch(identifier.entityName, where: .tree(predicate)),
            QueryParameters(arguments: [.value(.object(identifier))]), every: interval)
    }

    /// The next state of the object, blocking until there is one; nil after its deletion and after
    /// ``cancel()``, or if there was none in time.
    ///
    /// - Parameter timeout: How long to wait; nil is without a limit.
    /// - Throws: `objectNotFound` if the object does not exist at first, `foreignIdentifier`, and
    ///   what `LiveResults.next(timeout:)` throws.
    public func next(timeout: Duration? = nil) throws(LarderError) -> LiveObject? {
        guard let result = try results.next(timeout: timeout) else { return nil }
        return try object(result)
    }

    /// The asynchronous form.
    ///
    /// - Throws: what the blocking form throws, and `cancelled` if the task is cancelled.
    public func next(timeout: Duration? = nil) async throws(LarderError) -> LiveObject? {
        guard let result = try await results.next(timeout: timeout) else { return nil }
        return try object(result)
    }

    /// Ends the sequence; `next(timeout:)` returns nil from then on.
    public func cancel() { results.cancel() }

    private func object(_ result: LiveResult) throws(LarderError) -> LiveObject? {
        let isFirst = hasBegun.withLock { hasBegun in
            defer { hasBegun = true }
            return !hasBegun
        }
        if let record = result.rows.first { return LiveObject(record) }
        results.cancel()
        if let last = result.deleted.first { return LiveObject(last.row, isDeleted: true) }
        guard isFirst else { return nil }
        throw LarderError(
            .objectNotFound, "the object does not exist", uri: identifier.uriRepresentation)
    }
}

extension LiveObjects: AsyncSequence {
    public typealias Element = LiveObject
    public typealias Failure = LarderError

    public func makeAsyncIterator() -> Iterator { Iterator(objects: self) }

    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let objects: LiveObjects

        public func next(
            isolation actor: isolated (any Actor)?
        ) async throws(LarderError) -> LiveObject? {
            try await objects.next()
        }
    }
}

extension StoreClient {
    /// An object, and each change of it by a commit, also of other processes, until it is deleted.
    ///
    /// - Parameter interval: The shortest time between two elements; zero is one for each commit.
    public func observe(
        _ identifier: PersistentIdentifier, every interval: Duration = .zero
    ) -> LiveObjects {
        LiveObjects(identifier, every: interval, client: self)
    }
}
