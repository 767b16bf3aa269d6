import FoundationEssentials
import LarderModel

/// The activity of a server, with the rates since an earlier report.
struct ActivityReport {
    struct Connection {
        let activity: ConnectionActivity
        let requestsPerSecond: Double
    }

    let load: ServerLoad
    let requestsPerSecond: Double
    let savesPerSecond: Double
    let commitsPerSecond: Double
    /// The busiest first.
    let connections: [Connection]
    /// The slowest first.
    let slowReads: [SlowRead]
    /// The oldest first.
    let running: [RunningRequest]

    init(_ activity: ServerActivity, since earlier: ServerActivity) {
        let seconds = max(0.001, activity.load.time.timeIntervalSince(earlier.load.time))
        // After a restart of the server the totals begin again.
        let isSameRun = earlier.load.started == activity.load.started
        func rate(_ total: Int64, _ earlier: Int64?) -> Double {
            let rate = Double(max(0, total - (isSameRun ? earlier ?? 0 : 0))) / seconds
            return (rate * 10).rounded() / 10
        }
        load = activity.load
        requestsPerSecond = rate(load.requestCount, earlier.load.requestCount)
        savesPerSecond = rate(load.saveCount, earlier.load.saveCount)
        commitsPerSecond = rate(load.commitCount, earlier.load.commitCount)
        let counts = Dictionary(
            earlier.connections.map { ($0.id, $0.requestCount) }, uniquingKeysWith: { $1 })
        connections = activity.connections.map { connection in
            Connection(
                activity: connection,
                requestsPerSecond: rate(connection.requestCount, counts[connection.id]))
        }.sorted {
            ($0.requestsPerSecond, $0.activity.requestsInFlight, $1.activity.id)
                > ($1.requestsPerSecond, $1.activity.requestsInFlight, $0.activity.id)
        }
        slowReads = activity.slowReads.sorted { $0.seconds > $1.seconds }
        running = activity.running.sorted { ($0.started, $0.id) < ($1.started, $1.id) }
    }

    var followerCount: Int64 {
        connections.reduce(0) { $0.addingClamped($1.activity.followerCount) }
    }

    // MARK: JSON

    var json: JSONValue {
        .object([
            "time": .string(load.time.text), "started": .string(load.started.text),
            "requests": .integer(load.requestCount), "saves": .integer(load.saveCount),
            "commits": .integer(load.commitCount),
            "requestsPerSecond": .double(requestsPerSecond),
            "savesPerSecond": .double(savesPerSecond),
            "commitsPerSecond": .double(commitsPerSecond),
            "writesWaiting": .integer(load.writesWaiting),
            "backupsRunning": .integer(load.backupsRunning),
            "readsRunning": .integer(load.readsRunning),
            "readsWaiting": .integer(load.readsWaiting),
            "logBytes": .integer(load.logByteCount),
            "connections": .array(connections.map(\.json)),
            "slowReads": .array(slowReads.map(\.json)),
            "running": .array(running.map { $0.json(at: load.time) }),
        ])
    }
}

extension RunningRequest {
    /// The form that `larder cancel` reads.
    var id: String { "\(connection)/\(request)" }

    func seconds(at time: Date) -> Double {
        (max(0, time.timeIntervalSince(started)) * 1_000).rounded() / 1_000
    }

    fileprivate func json(at time: Date) -> JSONValue {
        .object([
            "id": .string(id), "connection": .integer(connection), "kind": .string(kind),
            "started": .string(started.text), "seconds": .double(seconds(at: time)),
            "user": source.userJSON, "userName": .string(source.userName),
            "process": source.processJSON, "client": .string(source.clientName),
            "entity": .string(entityName), "query": query.map { .string($0) } ?? .null,
            "trace": trace.isEmpty ? .null : .string(trace),
        ])
    }
}

extension ActivityReport.Connection {
    fileprivate var json: JSONValue {
        .object([
            "number": .integer(activity.id), "user": activity.source.userJSON,
            "userName": .string(activity.source.userName),
            "process": activity.source.processJSON,
            "client": .string(activity.source.clientName),
            "opened": .string(activity.opened.text),
            "requests": .integer(activity.requestCount),
            "requestsPerSecond": .double(requestsPerSecond),
            "inFlight": .integer(activity.requestsInFlight),
            "followers": .integer(activity.followerCount),
            "memoryBytes": .integer(activity.memoryByteCount),
            "waitingBytes": .integer(activity.waitingByteCount),
        ])
    }
}

extension SlowRead {
    fileprivate var json: JSONValue {
        .object([
            "ended": .string(ended.text), "seconds": .double(seconds), "user": source.userJSON,
            "userName": .string(source.userName), "process": source.processJSON,
            "client": .string(source.clientName), "entity": .string(entityName),
            "query": query.map { .string($0) } ?? .null,
        ])
    }
}

extension ChangeSource {
    fileprivate var userJSON: JSONValue { userIdentifier.map { .integer(Int64($0)) } ?? .null }

    fileprivate var processJSON: JSONValue {
        processIdentifier.map { .integer(Int64($0)) } ?? .null
    }

    var userName: String { userIdentifier.map(UserName.of) ?? "" }
}
