/// The records of an observed fetch, and their new values after each commit that changes them.
///
/// One thread or task at a time may use it. It ends by ``cancel()``, which releasing it also does.
public final class LiveRecords<Record: EntityRecord>: Sendable {
    /// The records at one moment.
    public struct Result: Sendable {
        /// All records, in the order of the fetch.
        public let records: [Record]
        /// How they differ from those before: inserted, deleted, updated and moved indexes.
        public let changes: LiveResult
    }

    private let results: LiveResults

    init(_ results: LiveResults) { self.results = results }

    /// The next result, blocking until there is one; nil after ``cancel()``, or if there was none
    /// in time.
    ///
    /// - Parameter timeout: How long to wait; nil is without a limit.
    /// - Throws: as `LiveResults.next(timeout:)` does; `wrongType`, `missingValue`.
    public func next(timeout: Duration? = nil) throws(LarderError) -> Result? {
        try result(results.next(timeout: timeout))
    }

    /// The asynchronous form.
    ///
    /// - Throws: what the blocking form throws, and `cancelled` if the task is cancelled.
    public func next(timeout: Duration? = nil) async throws(LarderError) -> Result? {
        try result(await results.next(timeout: timeout))
    }

    /// Ends the results.
    public func cancel() { results.cancel() }

    private func result(_ changes: LiveResult?) throws(LarderError) -> Result? {
        guard let changes else { return nil }
        var records: [Record] = []
        records.reserveCapacity(changes.rows.count)
        for row in changes.rows { records.append(try row.value()) }
        return Result(records: records, changes: changes)
    }
}

extension LiveRecords: AsyncSequence {
    public typealias Element = Result
    public typealias Failure = LarderError

    public func makeAsyncIterator() -> Iterator { Iterator(records: self) }

    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let records: LiveRecords

        public func next(
            isolation actor: isolated (any Actor)?
        ) async throws(LarderError) -> Result? {
            try await records.next()
        }
    }
}
