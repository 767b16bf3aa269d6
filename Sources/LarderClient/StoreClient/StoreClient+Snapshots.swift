public import LarderModel
internal import LarderWire

// The two forms have the same name, as those of every call.
// swift-format-ignore: AmbiguousTrailingClosureOverload
/// Several reads of one state of the store.
extension StoreClient {
    /// Calls the closure with a client whose reads all see the state of the store at this moment,
    /// whatever is saved meanwhile. Blocking; the asynchronous form awaits the closure.
    ///
    /// The snapshot ends with the closure, and at the latest after the server's time limit for a
    /// query, 30 seconds unless it is started with another one. Its reads are performed one after
    /// the other: read a stream to its end before the next read. A read is not repeated if the
    /// connection is lost, and saves are refused with `readOnly`.
    ///
    /// - Throws: what the closure throws. A read in the closure throws `snapshotExpired` if the
    ///   snapshot has ended, because its time was over or the store could not keep it any longer,
    ///   and `connectionFailed` if the connection was lost.
    public func snapshot<Result>(
        _ body: (_ snapshot: StoreClient) throws -> Result
    ) throws -> Result {
        let opened = try session.run(SnapshotExchange())
        let snapshot = StoreClient(session: Session(reading: opened, options: session.options))
        defer { snapshot.close() }
        return try body(snapshot)
    }

    /// The asynchronous form.
    ///
    /// - Throws: as the blocking form does.
    public func snapshot<Result>(
        _ body: (_ snapshot: StoreClient) async throws -> Result
    ) async throws -> Result {
        let opened = try await session.run(SnapshotExchange())
        let snapshot = StoreClient(session: Session(reading: opened, options: session.options))
        defer { snapshot.close() }
        return try await body(snapshot)
    }

    /// In a snapshot, the position after the last transaction that it contains; otherwise nil.
    public var snapshotPosition: HistoryToken? { session.snapshot?.position }
}
