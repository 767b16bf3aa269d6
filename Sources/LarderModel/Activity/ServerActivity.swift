public import FoundationEssentials

/// The activity of a server: its load, its connections, their requests, and its recent slow reads.
public struct ServerActivity: Hashable, Sendable {
    public var load: ServerLoad
    /// The open connections, in the order in which they were opened.
    public var connections: [ConnectionActivity]
    /// The last reads that took at least 100 ms, the newest last. The server remembers 32.
    public var slowReads: [SlowRead]
    /// The requests that take longer than their turn, of the connections in their order.
    public var running: [RunningRequest]

    package init(
        load: ServerLoad, connections: [ConnectionActivity] = [], slowReads: [SlowRead] = [],
        running: [RunningRequest] = []
    ) {
        self.load = load
        self.connections = connections
        self.slowReads = slowReads
        self.running = running
    }
}

/// The load of a server. Totals count from its start; the difference of two reports is a rate.
public struct ServerLoad: Hashable, Sendable {
    /// The time of the report, by the server's clock.
    public var time: Date
    /// When the server was started.
    public var started: Date
    /// The total of requests.
    public var requestCount: Int64
    /// The total of change sets that were executed.
    public var saveCount: Int64
    /// The total of commits. One commit may have several saves.
    public var commitCount: Int64
    /// Writes that wait for the writer.
    public var writesWaiting: Int64
    /// Long reads that have a reader, and those that wait for one.
    public var readsRunning: Int64
    public var readsWaiting: Int64
    /// The length of the store's write-ahead log.
    public var logByteCount: Int64
    /// Backups that are being made or sent.
    public var backupsRunning: Int64

    package init(
        time: Date, started: Date, requestCount: Int64 = 0, saveCount: Int64 = 0,
        commitCount: Int64 = 0, writesWaiting: Int64 = 0, readsRunning: Int64 = 0,
        readsWaiting: Int64 = 0, logByteCount: Int64 = 0, backupsRunning: Int64 = 0
    ) {
        self.time = time
        self.started = started
        self.requestCount = requestCount
        self.saveCount = saveCount
        self.commitCount = commitCount
        self.writesWaiting = writesWaiting
        self.readsRunning = readsRunning
        self.readsWaiting = readsWaiting
        self.logByteCount = logByteCount
        self.backupsRunning = backupsRunning
    }
}

/// One open connection of a server.
public struct ConnectionActivity: Hashable, Sendable, Identifiable {
    /// The number of the connection: from 1, in the order in which they are opened.
    public var id: Int64
    /// The user, the process and the name of the client.
    public var source: ChangeSource
    /// When it was opened, by the server's clock.
    public var opened: Date
    /// The requests so far.
    public var requestCount: Int64
    /// The requests that have not been answered. Feeds are not among them.
    public var requestsInFlight: Int64
    /// The requests that follow the history: feeds.
    public var followerCount: Int64
    /// The memory that is charged to the user for this connection.
    public var memoryByteCount: Int64
    /// The bytes of replies that the client has not read yet.
    public var waitingByteCount: Int64

    package init(
        id: Int64, source: ChangeSource, opened: Date, requestCount: Int64 = 0,
        requestsInFlight: Int64 = 0, followerCount: Int64 = 0, memoryByteCount: Int64 = 0,
        waitingByteCount: Int64 = 0
    ) {
        self.id = id
        self.source = source
        self.opened = opened
        self.requestCount = requestCount
        self.requestsInFlight = requestsInFlight
        self.followerCount = followerCount
        self.memoryByteCount = memoryByteCount
        self.waitingByteCount = waitingByteCount
    }
}

/// A query that took long.
public struct SlowRead: Hashable, Sendable {
    /// When it ended, by the server's clock.
    public var ended: Date
    /// The time, in seconds, in which its rows were read, without the time for which its client
    /// did not read them.
    public var seconds: Double
    public var source: ChangeSource
    public var entityName: String
    /// The query in brief, without the values of its arguments. nil for a
    /// query of another user, which only root and the server's own user may see.
    public var query: String?

    package init(
        ended: Date, seconds: Double, source: ChangeSource, entityName: String, query: String?
    ) {
        self.ended = ended
        self.seconds = seconds
        self.source = source
        self.entityName = entityName
        self.query = query
    }
}
