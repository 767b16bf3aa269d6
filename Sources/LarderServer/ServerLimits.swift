import LarderModel

/// The maxima of what connections may use: counts, bytes and times. What users share is a
/// ``SharedLimit``.
///
/// `Limits` has the maxima of the vocabulary itself, such as the depth of expressions.
package struct ServerLimits: Hashable, Sendable {
    /// The number of event loops, which is that of the processors that the server may use. What is
    /// computed at a time, and the memory of each event loop and reader, follow from it.
    package let eventLoopCount: Int

    // Connections.

    /// Open connections: at most 256 of one user.
    package var connections = SharedLimit(1_024, userShare: 0.25)
    /// The time from the connection to its first valid frame, and the connections that may be
    /// without a handshake: at most 64 of one user.
    package var handshakeTimeMax: Duration = .seconds(5)
    package var handshakes = SharedLimit(128, userShare: 0.5)
    /// The length of a frame, and of a frame before the handshake.
    package var frameBytesMax = Limits.frameBytesMax
    package var handshakeFrameBytesMax = Limits.handshakeFrameBytesMax
    /// The length of an object, as far as a change or a reply has it. One that is longer than a
    /// frame arrives in parts, and is sent to clients that accept longer frames.
    package private(set) var objectBytesMax = Limits.frameBytesMax
    /// Unanswered requests per connection. The server stops reading at this number.
    package var requestsInFlightMax = 32

    /// Streams that follow the history: at most 32,768 of one user. They are not in flight.
    package var followers = SharedLimit(65_536, userShare: 0.5)

    /// The memory of observed queries, for the keys and sort values of their objects: at most
    /// 64 MiB of one user.
    package var liveMemory = SharedLimit(128 << 20, userShare: 0.5)
    /// The objects of an observed fetch, of which the server keeps those in memory.
    package var liveObjectsMax = 1_000_000

    // Bytes that wait.

    /// Replies of one connection that its client does not read. A connection above the hard
    /// maximum, which is two of the longest frames, is closed; one above the soft maximum is closed
    /// if its client reads nothing for `queuedBytesSoftTimeMax`.
    package var queuedBytesMax = 32 << 20
    package var queuedBytesSoftMax = 2 << 20
    package var queuedBytesSoftTimeMax: Duration = .seconds(30)
    /// Memory for waiting replies, requests that are not answered yet and incomplete frames: at
    /// most 64 MiB for one user.
    package var memory = SharedLimit(128 << 20, userShare: 0.5)
    /// The time to send the closing error to a peer that the server disconnects.
    package var closingTimeMax: Duration = .seconds(2)

    // Reads.

    /// The time from the arrival of a query to its last batch, and so the life of its snapshot.
    package var readTimeMax: Duration = .seconds(30)
    /// The time of a check of the store, which reads all of it in one snapshot. A snapshot that is
    /// old when the log is long ends earlier.
    package var checkTimeMax: Duration = .seconds(3_600)
    /// The budget of one read on the event loop: work (see `ReadBudget`; this is about a
    /// millisecond), time for that work, which matters for functions that take long, and bytes of
    /// the reply. A longer read moves to the reader pool.
    package var inlineWorkMax = 40_000
    package var inlineTimeMax: Duration = .milliseconds(10)
    package var inlineBatchBytesMax = 128 << 10
    /// The time for which the connections of one user may use their event loop before they let
    /// those of others run.
    package var turnTimeMax: Duration = .microseconds(500)
    /// A longer frame is decoded on a thread of the pool.
    package var loopFrameBytesMax = 128 << 10
    /// A read whose frame is longer is planned and performed there, and so is a query whose shape,
    /// which is the query without its values, is longer: to plan it takes some 0.2 milliseconds for
    /// each KiB.
    package var loopReadBytesMax = 32 << 10
    package var loopShapeBytesMax = 4 << 10
    /// So is a read that needs a longer statement, which SQLite prepares without interruption.
    package var loopStatementBytesMax = 32 << 10
    /// The longer frames of one user are decoded one at a time.
    package var parallelFrameBytesMax = 1 << 20
    /// A longer reply is encoded on a thread of the pool.
    package var loopReplyBytesMax = 256 << 10
    /// The size of a batch of a streamed result. See
    /// `docs/decisions/0023-batches-of-a-long-result.md`.
    package var batchBytesMax = 64 << 10
    /// The memory of the reader of each event loop for data that it has read.
    package var loopReaderCacheBytes: Int
    /// Readers of the pool: at most half of them of one user, and of one connection fewer.
    package var readers: SharedLimit
    package var readersPerConnectionMax = 4
    /// The memory of reads that have a reader, for their arguments: at most 32 MiB of one user, or
    /// one read.
    package var readMemory = SharedLimit(64 << 20, userShare: 0.5)
    /// The memory of each reader for data that it has read.
    package var pooledReaderCacheBytes: Int
    /// Long reads that compute at a time, at most two thirds of them of one user, and those that
    /// have begun to, each of which has a thread.
    package var readsRunning: SharedLimit
    package var readsStarted: SharedLimit
    /// The evaluations of observed queries of one user that run at a time. They are fewer, so that
    /// the user's other reads run, too.
    package var evaluationsMax: Int
    /// The nice value of these threads: a tenth of the weight of the event loops, so that short
    /// requests run first.
    package var readNiceness: Int32 = 10
    /// Reads that wait for a reader, at most 512 of one user, and the time that they wait.
    package var readsWaiting = SharedLimit(1_024, userShare: 0.5)
    package var readerWaitTimeMax: Duration = .seconds(5)
    /// Cached plans per event loop, and their memory: at most half of it for one user. A larger
    /// plan than `planPart` of the share of a user is not cached.
    package var plansMax = 512
    package var planMemory: SharedLimit
    /// Shapes of queries with statistics, per event loop, and their memory: at most half of it for
    /// one user.
    package var queryShapesMax = 1_000
    package var shapeMemory: SharedLimit
    /// The time without a read in the pool after which its readers are closed and free memory is
    /// returned to the system.
    package var idleMemoryTimeMax: Duration = .seconds(10)
    /// The memory of the reply cache of each event loop.
    package var replyCacheBytesMax: Int

    /// A query of the pool that takes this time is recorded for `activity`, which has the newest.
    package var slowReadTimeMin: Duration = .milliseconds(100)
    package var slowReadsMax = 32
    /// One that takes this time is also a line of the log; nil for none.
    package var slowReadLogTimeMin: Duration?
    /// The interval at which a failure of the server that repeats is logged again.
    package var failureLineInterval: Duration = .seconds(60)

    // Writes.

    /// Writes that wait for the writer: at most 4,096 of one user.
    package var writesQueued = SharedLimit(8_192, userShare: 0.5)
    /// The time that a write may wait. After that the server rejects it unexecuted.
    package var writeWaitTimeMax: Duration = .seconds(30)
    /// The interval at which the deadlines of waiting writes, and the time of a long one, are
    /// checked.
    package var expiryInterval: Duration = .milliseconds(10)
    /// The length of the store's log at which all snapshots that keep it from being shortened are
    /// ended; some are ended earlier, the more the longer it is. The log grows by about
    /// `logStepBytes` between two attempts to shorten it.
    package var logBytesMax = 96 << 20
    package var logStepBytes = 4 << 20
    /// The time for which the writer waits until all snapshots have ended.
    package var snapshotEndTimeMax: Duration = .milliseconds(100)
    /// Change sets, and bytes of their frames, per commit.
    package var writeGroupMax = 256
    package var writeGroupBytesMax = 1 << 20
    /// The time for which another user's write may wait for a long one. After that the long one is
    /// stopped, and tried again later.
    package var writerTimeMax: Duration = .milliseconds(30)

    // History.

    /// How much of its history the store keeps, and the interval at which that is checked.
    package var historyRetention = HistoryRetention()
    package var historyRetentionInterval: Duration = .seconds(10)
    /// Transactions that one commit deletes from the history.
    package var historyDeletionRowsMax = 1_000

    // Insert streams.

    /// Insert streams that are one transaction each, and the disk space for their rows: at most 64
    /// and 8 GiB of one user.
    package var atomicStreams = SharedLimit(128, userShare: 0.5)
    package var spoolBytes = SharedLimit(16 << 30, userShare: 0.5)
    /// The time from the opening of such a stream to its commit.
    package var atomicStreamTimeMax: Duration = .seconds(3_600)
    /// The interval of progress replies while such a stream is stored.
    package var progressInterval: Duration = .seconds(1)

    // Backups.

    /// Backups that are being made or sent, at most 2 of one user, and the time from the request to
    /// the last part.
    package var backups = SharedLimit(4, userShare: 0.5)
    package var backupTimeMax: Duration = .seconds(3_600)
    /// The time of a migration session, from its begin to its commit, and the time without a
    /// message from its client after which it is ended.
    package var migrationTimeMax: Duration = .seconds(3_600)
    package var migrationSilenceMax: Duration = .seconds(30)
    /// The bounds of the time for which others work between two migrations of one user.
    package var migrationPauseMin: Duration = .seconds(1)
    package var migrationPauseMax: Duration = .seconds(60)
    /// The time for which the writer copies pages between two groups of writes.
    package var backupStepTimeMax: Duration = .microseconds(500)
    /// The bytes of one part.
    package var backupPartBytesMax = 256 << 10

    // Shutdown.

    /// The time for which a stopping server, or one that is to be migrated, lets the requests run
    /// that it has received; then it interrupts them, except a commit.
    package var stopGraceTime: Duration = .seconds(5)
    /// The time for which it waits for its connections.
    package var stopTimeMax: Duration = .seconds(10)

    /// The bytes of all caches of one kind together. With few event loops each has more than it
    /// needs, with many this is divided.
    private static let cacheBytesMax = 128 << 20
    private static let cacheBytesMin = 1 << 20

    /// - Parameter eventLoopCount: At least 1. With one, what is computed at a time and the caches
    ///   are those of two.
    package init(eventLoopCount: Int = 2) {
        func part(of count: Int, atMost bytes: Int) -> Int {
            min(bytes, max(Self.cacheBytesMin, Self.cacheBytesMax / count))
        }
        self.eventLoopCount = max(1, eventLoopCount)
        let processors = max(2, eventLoopCount)
        loopReaderCacheBytes = part(of: processors, atMost: 16 << 20)
        planMemory = SharedLimit(part(of: processors, atMost: 8 << 20), userShare: 0.5)
        shapeMemory = SharedLimit(part(of: processors, atMost: 2 << 20), userShare: 0.5)
        replyCacheBytesMax = part(of: processors, atMost: 8 << 20)
        readsRunning = SharedLimit(processors + 1, userShare: 0.67)
        evaluationsMax = (processors + 2) / 2
        readsStarted = SharedLimit(max(16, 2 * readsRunning.total), userShare: 0.5)
        readers = SharedLimit(max(32, 2 * processors), userShare: 0.5)
        pooledReaderCacheBytes = part(of: readers.total, atMost: 4 << 20)
    }

    /// Accepts objects of up to this number of bytes, and lets the replies with two of them wait
    /// for a client.
    package mutating func acceptObjects(ofBytes bytes: Int) {
        objectBytesMax = max(Limits.frameBytesMax, min(bytes, Limits.objectBytesMax))
        let frameBytes = objectBytesMax + Limits.objectFrameBytes
        queuedBytesMax = max(queuedBytesMax, 2 * frameBytes)
        memory.total = max(memory.total, Int(Double(2 * frameBytes) / memory.userShare))
    }

    /// The maximum of open connections, given the number of descriptors that the process may open:
    /// three quarters of them less those of the event loops and of the server itself, but at least
    /// ``connectionsFloor``.
    func connectionsMax(descriptorLimit: Int) -> Int {
        let others = Self.descriptors + Self.descriptorsOfLoop * eventLoopCount
        return min(connections.total, max(Self.connectionsFloor, descriptorLimit / 4 * 3 - others))
    }

    static let connectionsFloor = 16
    private static let descriptors = 52
    /// Three of the loop itself, and the two files of its reader; one in reserve.
    private static let descriptorsOfLoop = 6
}
