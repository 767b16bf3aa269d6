public import LarderModel

extension StoreClient {
    /// The activity of the server: its load, its connections, what runs, and its recent slow reads.
    ///
    /// The server replies even if all its readers and its writer are busy.
    ///
    /// - Throws: errors of the connection and the server only.
    public func activity() throws(LarderError) -> ServerActivity {
        try session.perform(.activity)
    }

    /// The asynchronous form.
    ///
    /// - Throws: what the blocking form throws, and `cancelled` if the task is cancelled.
    public func activity() async throws(LarderError) -> ServerActivity {
        try await session.perform(.activity)
    }

    /// The metrics of the server in Prometheus' text format.
    ///
    /// - Throws: `permissionDenied` if a policy does not permit them.
    public func metrics() throws(LarderError) -> String {
        try session.perform(.metrics)
    }

    /// The asynchronous form.
    ///
    /// - Throws: what the blocking form throws, and `cancelled` if the task is cancelled.
    public func metrics() async throws(LarderError) -> String {
        try await session.perform(.metrics)
    }

    /// The statistics of queries, by their shape, since the server was started or they were reset.
    ///
    /// - Parameter resetting: Whether counting begins again afterwards.
    /// - Throws: `permissionDenied` if a policy does not permit them; to reset them, if the user is
    ///   neither root nor that of the server, and no policy permits it.
    public func queryStatistics(resetting: Bool = false) throws(LarderError) -> QueryStatistics {
        try session.perform(.queryStatistics(resetting: resetting))
    }

    /// The asynchronous form.
    ///
    /// - Throws: what the blocking form throws, and `cancelled` if the task is cancelled.
    public func queryStatistics(
        resetting: Bool = false
    ) async throws(LarderError) -> QueryStatistics {
        try await session.perform(.queryStatistics(resetting: resetting))
    }

    /// Ends requests of a connection, whose client gets the error `cancelled` for each.
    ///
    /// - Parameters:
    ///   - connection: The number of the connection; see `ConnectionActivity.id`.
    ///   - request: The id of the request; nil for all that run.
    /// - Returns: the number of requests that were ended; 0 if none runs, or the connection does
    ///   not exist.
    /// - Throws: `permissionDenied` for a connection of another user.
    public func endRequests(
        ofConnection connection: Int64, request: UInt64? = nil
    ) throws(LarderError) -> Int64 {
        try session.perform(.endRequests(connection: connection, request: request ?? 0))
    }

    /// The asynchronous form.
    ///
    /// - Throws: what the blocking form throws, and `cancelled` if the task is cancelled.
    public func endRequests(
        ofConnection connection: Int64, request: UInt64? = nil
    ) async throws(LarderError) -> Int64 {
        try await session.perform(.endRequests(connection: connection, request: request ?? 0))
    }
}
