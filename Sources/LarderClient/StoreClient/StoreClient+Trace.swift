extension StoreClient {
    /// The id that requests of this task have for the server's log; nil for that of the options.
    @TaskLocal static var trace: String?

    /// Gives the requests that a closure sends an id for the server's log and `larder top`, such as
    /// a W3C traceparent.
    ///
    /// The server refuses an id of more than 128 bytes, or with other characters than printable
    /// ASCII, with `malformedValue`. Requests that a feed or a live query sends later have none.
    public static func withTrace<Result>(
        _ trace: String, _ body: () throws -> Result
    ) rethrows -> Result {
        try $trace.withValue(trace, operation: body)
    }

    /// The asynchronous form.
    public static func withTrace<Result>(
        _ trace: String, isolation: isolated (any Actor)? = #isolation,
        _ body: () async throws -> Result
    ) async rethrows -> Result {
        try await $trace.withValue(trace, operation: body, isolation: isolation)
    }
}
