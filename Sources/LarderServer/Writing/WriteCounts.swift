import LarderModel
import NIOCore

/// The work of the writer since the server started.
struct WriteCounts {
    private(set) var saves = 0
    private(set) var groups = 0
    var transactions = 0
    var longWrites = 0
    private var commitTimes = Histogram.times
    private var groupSizes = Histogram.groups

    var commits: Int { groups + transactions }

    /// A group of change sets was executed and committed.
    mutating func noteGroup(of count: Int, _ time: TimeAmount) {
        groups += 1
        saves += count
        commitTimes.record(time.nanoseconds)
        groupSizes.record(Int64(count))
    }

    /// Metrics for `stats`.
    var statistics: [Statistic] {
        [
            Statistic("saves", .int(Int64(saves))),
            Statistic("saveGroups", .int(Int64(groups))),
            Statistic("insertTransactions", .int(Int64(transactions))),
            Statistic("longWrites", .int(Int64(longWrites))),
        ]
    }

    /// The metrics that `stats` does not have.
    var families: [MetricFamily] {
        [
            MetricFamily(
                "larder_commit_duration_seconds", .histogram,
                help: "Time of the execution and the commit of a group of change sets.",
                MetricFamily.Sample.samples(of: commitTimes, unit: 1e9)),
            MetricFamily(
                "larder_commit_change_sets", .histogram, help: "Change sets per commit.",
                MetricFamily.Sample.samples(of: groupSizes, unit: 1)),
        ]
    }
}
