import ArgumentParser
import LarderModel

struct StatsQueriesCommand: StoreCommand, PagedCommand {
    static let configuration = CommandConfiguration(
        commandName: "queries",
        abstract: "Print what the queries of all users have taken, by their shape.",
        discussion: """
            EXAMPLES:
              larder stats queries
              larder stats queries --limit 10 --output table
              larder stats queries --output json | jq '.[] | select(.scanned > 100 * .rows)'

            Queries that differ only in their values are one line, with %@ for each value; reads \
            by identifier are lines with `get`. The lines with the longest total time come first. \
            The columns are the calls, those that failed, the total time, the times that half \
            and 99 of 100 calls did not exceed, the rows that were returned, those that scans \
            without an index have read, the steps of SQLite, the replies from the cache, the \
            entity and the query. Times are in milliseconds, from the receipt of a request to its \
            last reply.

            Counting begins with the server, or with `larder stats reset`. The server has memory \
            for some hundred shapes; those with the fewest calls are left out, and \
            queryShapesEvicted of `larder stats` counts them. A policy must grant the right admin.
            """)

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Maximum number of lines. Default: all.", valueName: "n"))
    var limit: Int?

    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOption

    mutating func validate() throws {
        if let limit, limit < 0 { throw ValidationError("--limit must be a number from 0") }
    }

    func run(_ session: StoreSession) throws {
        let statistics = try session.client.queryStatistics().statistics
        var writer = output.format.makeWriter()
        try writer.write(
            all: statistics.prefix(limit ?? .max).map(Self.row),
            names: [
                "calls", "errors", "total", "p50", "p99", "rows", "scanned", "steps", "cached",
                "entity", "query",
            ])
    }

    private static func row(_ statistic: QueryStatistic) -> [Value] {
        func milliseconds(_ seconds: Double) -> Value {
            .double((seconds * 1e6).rounded() / 1e3)
        }
        return [
            .int(statistic.callCount), .int(statistic.errorCount),
            milliseconds(statistic.seconds), milliseconds(statistic.medianSeconds),
            milliseconds(statistic.percentile99Seconds), .int(statistic.rowCount),
            .int(statistic.scannedRowCount), .int(statistic.stepCount),
            .int(statistic.cachedReplyCount), .string(statistic.entityName),
            .string(statistic.query),
        ]
    }
}
