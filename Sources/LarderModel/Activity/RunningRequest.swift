public import FoundationEssentials

/// A request that takes longer than its turn: a long read, a stream, an observed query, a feed, a
/// snapshot or a backup.
public struct RunningRequest: Hashable, Sendable {
    /// The number of its connection; see ``ConnectionActivity/id``.
    public var connection: Int64
    /// The id that its client has given it.
    public var request: UInt64
    public var source: ChangeSource
    /// The name of the request in the protocol, such as `query`.
    public var kind: String
    /// When it was received, by the server's clock.
    public var started: Date
    /// The entity of its query; empty if it has none.
    public var entityName: String
    /// Its query in brief, as that of a ``SlowRead``, and nil for the same users.
    public var query: String?
    /// The id that its client gave it for the log, such as a W3C traceparent; empty if it has none,
    /// and for requests of other users whose query is hidden.
    public var trace: String

    package init(
        connection: Int64, request: UInt64, source: ChangeSource, kind: String, started: Date,
        entityName: String = "", query: String? = nil, trace: String = ""
    ) {
        self.connection = connection
        self.request = request
        self.source = source
        self.kind = kind
        self.started = started
        self.entityName = entityName
        self.query = query
        self.trace = trace
    }
}
