internal import CLarderProto
internal import FoundationEssentials
internal import LarderModel

// The message `QueryStatisticsReply` and its part.

extension QueryStatistics {
    /// More than a server has.
    private static let countMax = 1_000_000

    init(_ wire: Larder__V1__QueryStatisticsReply) throws(LarderError) {
        guard wire.evicted_count >= 0 else {
            throw .malformed("the number of evicted shapes is negative")
        }
        self.init(
            statistics: try ProtobufReader.list(
                wire.statistics, wire.n_statistics, "statistics", maximum: Self.countMax,
                QueryStatistic.init),
            since: try Date(wireSeconds: wire.since), evictedCount: wire.evicted_count)
    }
}

extension QueryStatistic {
    fileprivate init(_ wire: Larder__V1__QueryStatistic) throws(LarderError) {
        let counts = [
            wire.call_count, wire.error_count, wire.row_count, wire.scanned_row_count,
            wire.step_count, wire.cached_reply_count,
        ]
        let times = [wire.seconds, wire.median_seconds, wire.percentile99_seconds]
        guard counts.allSatisfy({ $0 >= 0 }), times.allSatisfy({ $0.isFinite && $0 >= 0 }) else {
            throw .malformed("a number of the statistics of a query is negative")
        }
        self.init(
            entityName: try wire.entity.text("an entity", bytesMax: Limits.nameBytesMax),
            query: try wire.query.text("a query"), callCount: wire.call_count,
            errorCount: wire.error_count, seconds: wire.seconds,
            medianSeconds: wire.median_seconds, percentile99Seconds: wire.percentile99_seconds,
            rowCount: wire.row_count, scannedRowCount: wire.scanned_row_count,
            stepCount: wire.step_count, cachedReplyCount: wire.cached_reply_count)
    }
}

extension ProtobufWriter {
    func queryStatistics(
        _ statistics: QueryStatistics
    ) throws(LarderError) -> UnsafeMutablePointer<Larder__V1__QueryStatisticsReply> {
        let wire = make(larder__v1__query_statistics_reply__init)
        wire.pointee.n_statistics = statistics.statistics.count
        wire.pointee.statistics = try list(statistics.statistics, queryStatistic)
        wire.pointee.since = statistics.since.timeIntervalSinceReferenceDate
        wire.pointee.evicted_count = statistics.evictedCount
        return wire
    }

    private func queryStatistic(
        _ statistic: QueryStatistic
    ) -> UnsafeMutablePointer<Larder__V1__QueryStatistic> {
        let wire = make(larder__v1__query_statistic__init)
        wire.pointee.entity = text(statistic.entityName)
        wire.pointee.query = text(statistic.query)
        wire.pointee.call_count = statistic.callCount
        wire.pointee.error_count = statistic.errorCount
        wire.pointee.seconds = statistic.seconds
        wire.pointee.median_seconds = statistic.medianSeconds
        wire.pointee.percentile99_seconds = statistic.percentile99Seconds
        wire.pointee.row_count = statistic.rowCount
        wire.pointee.scanned_row_count = statistic.scannedRowCount
        wire.pointee.step_count = statistic.stepCount
        wire.pointee.cached_reply_count = statistic.cachedReplyCount
        return wire
    }
}
