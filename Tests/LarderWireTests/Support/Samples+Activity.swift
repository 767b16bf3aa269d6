import FoundationEssentials
import LarderModel
import LarderWire

extension Samples {
    static let activity = ServerActivity(
        load: ServerLoad(
            time: Date(timeIntervalSinceReferenceDate: 8e8),
            started: Date(timeIntervalSinceReferenceDate: 7.5e8), requestCount: 1_000_000,
            saveCount: 70_000, commitCount: 300, writesWaiting: 4, readsRunning: 2,
            readsWaiting: 1, logByteCount: 5_000_000_000, backupsRunning: 3),
        connections: [
            ConnectionActivity(
                id: 1,
                source: ChangeSource(
                    userIdentifier: 0, processIdentifier: 1, clientName: "larder é"),
                opened: Date(timeIntervalSinceReferenceDate: 0.25), requestCount: 7,
                requestsInFlight: 1, followerCount: 2, memoryByteCount: 100,
                waitingByteCount: 1 << 33),
            ConnectionActivity(
                id: .max,
                source: ChangeSource(userIdentifier: .max, processIdentifier: -1),
                opened: Date(timeIntervalSinceReferenceDate: -1)),
        ],
        slowReads: [
            SlowRead(
                ended: Date(timeIntervalSinceReferenceDate: 8e8), seconds: 0.125,
                source: ChangeSource(
                    userIdentifier: 1_000, processIdentifier: 7, clientName: "web"),
                entityName: "Student", query: "count where name != %@"),
            SlowRead(
                ended: Date(timeIntervalSinceReferenceDate: 0), seconds: 2,
                source: ChangeSource(userIdentifier: 1_001, processIdentifier: 8),
                entityName: "Student", query: nil),
        ],
        running: [
            RunningRequest(
                connection: 1, request: .max,
                source: ChangeSource(
                    userIdentifier: 0, processIdentifier: 1, clientName: "larder"),
                kind: "observe", started: Date(timeIntervalSinceReferenceDate: 0.5),
                entityName: "Student", query: ""),
            RunningRequest(
                connection: .max, request: 7,
                source: ChangeSource(userIdentifier: 1_001, processIdentifier: 8),
                kind: "backup", started: Date(timeIntervalSinceReferenceDate: -1)),
        ])

    static let tracedActivity = ServerActivity(
        load: activity.load,
        running: [
            RunningRequest(
                connection: 1, request: 7,
                source: ChangeSource(userIdentifier: 1_001, processIdentifier: 8),
                kind: "query", started: Date(timeIntervalSinceReferenceDate: 0),
                entityName: "Student", query: "", trace: "00-0af7651916cd43dd8448eb211c80319c-01")
        ])

    static let queryStatistics = QueryStatistics(
        statistics: [
            QueryStatistic(
                entityName: "Student", query: "fetch where name == %@", callCount: .max,
                errorCount: 1, seconds: 1.5, medianSeconds: 0.25, percentile99Seconds: 1,
                rowCount: 7, scannedRowCount: 300, stepCount: 9_000, cachedReplyCount: 2),
            QueryStatistic(entityName: "", query: ""),
        ], since: Date(timeIntervalSinceReferenceDate: 8e8), evictedCount: .max)
}
