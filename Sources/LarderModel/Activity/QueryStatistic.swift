public import FoundationEssentials

/// The statistics of queries and reads by identifier since the server was started, or since they
/// were reset.
public struct QueryStatistics: Hashable, Sendable {
    /// The shapes with the longest time of all executions first.
    public var statistics: [QueryStatistic]
    /// When counting began, by the server's clock.
    public var since: Date
    /// The shapes that were left out, with their numbers, to make room for others: the server has
    /// memory for some hundred, and keeps those that are executed most often.
    public var evictedCount: Int64

    package init(statistics: [QueryStatistic] = [], since: Date, evictedCount: Int64 = 0) {
        self.statistics = statistics
        self.since = since
        self.evictedCount = evictedCount
    }
}

/// The executions of all queries with one shape: of one entity, and equal but for their values.
public struct QueryStatistic: Hashable, Sendable {
    public var entityName: String
    /// The query with `%@` for each value.
    public var query: String
    public var callCount: Int64
    /// The executions that failed.
    public var errorCount: Int64
    /// The time of all executions in seconds, each from the receipt of the request to its last
    /// reply.
    public var seconds: Double
    /// The times that half of the executions, and 99 of 100, did not exceed, to about a tenth.
    public var medianSeconds: Double
    public var percentile99Seconds: Double
    /// The rows that were returned.
    public var rowCount: Int64
    /// The rows that were read by scans without an index. SQLite does not count those that it finds
    /// with an index; ``stepCount`` has the work for both.
    public var scannedRowCount: Int64
    /// The steps of SQLite's virtual machine.
    public var stepCount: Int64
    /// The replies that came from the reply cache.
    public var cachedReplyCount: Int64

    package init(
        entityName: String, query: String, callCount: Int64 = 0, errorCount: Int64 = 0,
        seconds: Double = 0, medianSeconds: Double = 0, percentile99Seconds: Double = 0,
        rowCount: Int64 = 0, scannedRowCount: Int64 = 0, stepCount: Int64 = 0,
        cachedReplyCount: Int64 = 0
    ) {
        self.entityName = entityName
        self.query = query
        self.callCount = callCount
        self.errorCount = errorCount
        self.seconds = seconds
        self.medianSeconds = medianSeconds
        self.percentile99Seconds = percentile99Seconds
        self.rowCount = rowCount
        self.scannedRowCount = scannedRowCount
        self.stepCount = stepCount
        self.cachedReplyCount = cachedReplyCount
    }
}
