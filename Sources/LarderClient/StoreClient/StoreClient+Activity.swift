public import LarderModel

extension StoreClient {
    /// What the server is doing: its load, who is connected, and its recent slow reads.
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
}
