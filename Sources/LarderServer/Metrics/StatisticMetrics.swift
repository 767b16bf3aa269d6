import FoundationEssentials
import LarderModel

/// The metrics that `larder stats` has, too. Both have the same numbers.
///
/// The name of a metric follows from that of the statistic: `planCacheHits` is
/// `larder_plan_cache_hits_total`.
enum StatisticMetrics {
    private enum Kind {
        case counter(String)
        case gauge(String)
    }

    /// The statistic of each user begins with this, and has the number of the user at its end.
    static let userMemoryPrefix = "memoryBytesOfUser"

    static func families(of statistics: [Statistic], server: String) -> [MetricFamily] {
        var families = [info(statistics, server)]
        var users: [MetricFamily.Sample] = []
        for statistic in statistics {
            guard let number = number(of: statistic.value) else { continue }
            if statistic.name.hasPrefix(userMemoryPrefix) {
                let user = String(statistic.name.dropFirst(userMemoryPrefix.count))
                users.append(.init(labels: [.init("uid", user)], value: number))
            } else if let kind = kinds[statistic.name] {
                families.append(family(statistic.name, kind, number))
            }
        }
        families.append(
            MetricFamily(
                "larder_user_memory_bytes", .gauge,
                help: "Memory for the requests, long reads and live queries of a user.", users))
        return families
    }

    private static func family(_ name: String, _ kind: Kind, _ number: Double) -> MetricFamily {
        let name = "larder_\(words(name))"
        return switch kind {
        case .counter(let help):
            MetricFamily("\(name)_total", .counter, help: help, [.init(value: number)])
        case .gauge(let help): MetricFamily(name, .gauge, help: help, [.init(value: number)])
        }
    }

    /// The texts of the statistics are labels of one metric.
    private static func info(_ statistics: [Statistic], _ server: String) -> MetricFamily {
        let labels = ["store", "schemaVersion", "formatVersion", "sqliteVersion"].compactMap {
            name in
            statistics.first { $0.name == name }.map {
                MetricFamily.Label(words(name), $0.value.text)
            }
        }
        return MetricFamily(
            "larder_info", .gauge, help: "The server and its store.",
            [.init(labels: [.init("server", server)] + labels, value: 1)])
    }

    /// A date is in seconds since 1970, and 0 if there is none.
    private static func number(of value: Value) -> Double? {
        switch value {
        case .int(let number): Double(number)
        case .bool(let isTrue): isTrue ? 1 : 0
        case .date(let date): date.timeIntervalSince1970
        case .null: 0
        default: nil
        }
    }

    /// `planCacheHits` as `plan_cache_hits`.
    private static func words(_ name: String) -> String {
        name.reduce(into: "") { words, character in
            if character.isUppercase { words.append("_") }
            words.append(contentsOf: character.lowercased())
        }
    }

    private static let kinds: [String: Kind] = [
        // The store.
        "isReadOnly": .gauge("1 if the server rejects changes."),
        "entities": .gauge("Entities of the schema."),
        "fileBytes": .gauge("Length of the store's file."),
        "logBytes": .gauge("Length of the write-ahead log."),
        "pageBytes": .gauge("Length of a page of the file."),
        "pages": .gauge("Pages of the file."),
        "freePages": .gauge("Pages of the file that new objects will use."),
        "diskFreeBytes": .gauge("Free space of the file system that has the store."),
        "checkpoints": .counter("Checkpoints of the write-ahead log."),
        "statementBytes": .gauge("Memory of prepared statements."),
        "databaseMemoryBytes": .gauge("Memory of SQLite."),
        "databaseMemoryBytesMax": .gauge("Maximum memory of SQLite."),
        "historyValues": .counter("Former values that the history has recorded."),
        "historyValueBytes": .counter("Length of the former values that were recorded."),
        "historyValuesLeftOut": .counter("Former values that were too long to be recorded."),
        "archiveGeneration": .gauge("Number of the archive's generation."),
        "archivedTransaction": .gauge("Last transaction in the archive; 0 if there is none."),
        "archivedTime": .gauge("Unix time of the last transaction in the archive, or 0."),
        "archiveLagBytes": .gauge("Bytes of the log that are not archived."),
        "archiveBytes": .gauge("Length of all files of the archive."),
        "archiveFailedSince": .gauge("Unix time since which commits are not archived, or 0."),
        // The server.
        "uptimeSeconds": .gauge("Time since the start of the server or the last migration."),
        "connections": .gauge("Open connections."),
        "connectionsMax": .gauge("Maximum number of open connections."),
        "connectionsOpened": .counter("Connections that were opened."),
        "connectionsRefused": .counter("Connections that were refused."),
        "historyFollowers": .gauge("Streams that follow the history."),
        "requestMemoryBytes": .gauge("Memory of requests and replies that wait."),
        "requestMemoryBytesMax": .gauge("Maximum memory of requests and replies that wait."),
        "eventLoops": .gauge("Threads that serve connections."),
        "requests": .counter("Requests that were begun."),
        "inlineReads": .counter("Reads on the threads that serve connections."),
        "replyCacheHits": .counter("Replies from the cache of replies."),
        "replyCacheBytes": .gauge("Memory of the cache of replies."),
        "planCacheHits": .counter("Queries whose plan was in the cache of plans."),
        "planCacheMisses": .counter("Queries that had to be planned."),
        "planCacheBytes": .gauge("Memory of the cache of plans."),
        "queryShapes": .gauge("Shapes of queries with statistics."),
        "queryShapeBytes": .gauge("Memory of the statistics of queries."),
        "queryShapesEvicted": .counter("Shapes of queries whose statistics were left out."),
        "poolReads": .gauge("Long reads that have a reader."),
        "poolReadsWaiting": .gauge("Long reads that wait for a reader."),
        "poolReadMemoryBytes": .gauge("Memory of the arguments of long reads."),
        "poolReadersIdle": .gauge("Readers that are ready for long reads."),
        "saves": .counter("Change sets that were executed."),
        "saveGroups": .counter("Commits of change sets."),
        "insertTransactions": .counter("Commits of insert streams and saves in parts."),
        "longWrites": .counter("Executions of writes that may take long."),
        "savesWaiting": .gauge("Writes that wait for the writer."),
        "atomicStreams": .gauge("Unfinished atomic imports and saves in parts."),
        "spooledBytes": .gauge("Disk space of unfinished atomic imports and saves in parts."),
        "backups": .gauge("Backups that are being made or sent."),
        "liveQueries": .gauge("Observed queries, by shape."),
        "liveQueryMemoryBytes": .gauge("Memory of observed queries."),
        "liveEvaluations": .gauge("Evaluations of observed queries that run."),
        "liveEvaluationsWaiting": .gauge("Evaluations of observed queries that wait."),
    ]
}
