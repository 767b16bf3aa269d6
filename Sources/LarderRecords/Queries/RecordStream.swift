import Synchronization

/// Records one by one, read from the store in batches, in bounded memory.
///
/// It ends with nil, with an error, or by ``cancel()``, which releasing it also does; see
/// ``BatchStream``.
public final class RecordStream<Record: EntityRecord>: Sendable {
    private let stream: BatchStream
    private let pending = Mutex([Record]().makeIterator())

    init(_ stream: BatchStream) { self.stream = stream }

    /// The next record, blocking; nil after the last.
    ///
    /// - Throws: as `BatchStream.next()` does; `wrongType`, `missingValue`.
    public func next() throws(LarderError) -> Record? {
        while true {
            if let record = pending.withLock({ $0.next() }) { return record }
            guard let batch = try stream.next() else { return nil }
            try receive(batch)
        }
    }

    /// The asynchronous form of `next()`.
    ///
    /// - Throws: what the blocking form throws, and `cancelled` if the task is cancelled.
    public func next() async throws(LarderError) -> Record? {
        while true {
            if let record = pending.withLock({ $0.next() }) { return record }
            guard let batch = try await stream.next() else { return nil }
            try receive(batch)
        }
    }

    /// Ends the stream; `next()` returns nil after the records that were received.
    public func cancel() { stream.cancel() }

    private func receive(_ batch: Batch) throws(LarderError) {
        let records = try Record.records(in: batch, store: stream.storeIdentifier)
        pending.withLock { $0 = records.makeIterator() }
    }
}

extension RecordStream: AsyncSequence {
    public typealias Element = Record
    public typealias Failure = LarderError

    public func makeAsyncIterator() -> Iterator { Iterator(stream: self) }

    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let stream: RecordStream

        public func next(
            isolation actor: isolated (any Actor)?
        ) async throws(LarderError) -> Record? {
            try await stream.next()
        }
    }
}
