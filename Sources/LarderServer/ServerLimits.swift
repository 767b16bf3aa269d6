import LarderModel

/// The maxima of what connections may use: counts, bytes and times.
///
/// `Limits` has the maxima of the vocabulary itself, such as the depth of expressions.
public struct ServerLimits: Hashable, Sendable {
    // Connections.

    /// Open connections, in total and per user id.
    public var connectionsMax = 1_024
    public var connectionsPerUserMax = 256
    /// The time from the connection to its first valid frame, and the number of connections that
    /// may be without a handshake.
    public var handshakeTimeMax: Duration = .seconds(5)
    public var handshakesPendingMax = 64
    /// The length of a frame, and of a frame before the handshake.
    public var frameBytesMax = Limits.frameBytesMax
    public var handshakeFrameBytesMax = Limits.handshakeFrameBytesMax
    /// Unanswered requests per connection. The server stops reading at this number.
    public var requestsInFlightMax = 32

    // Bytes that wait.

    /// Replies of one connection that its client does not read. A connection above the hard maximum
    /// is closed; one above the soft maximum is closed after `queuedBytesSoftTimeMax`.
    public var queuedBytesMax = 8 << 20
    public var queuedBytesSoftMax = 2 << 20
    public var queuedBytesSoftTimeMax: Duration = .seconds(30)
    /// Waiting replies, writes and incomplete frames per user id.
    public var queuedBytesPerUserMax = 128 << 20
    /// The time to send the closing error to a peer that the server disconnects.
    public var closingTimeMax: Duration = .seconds(2)

    // Reads.

    /// The time from the arrival of a query to its last batch, and so the life of its snapshot.
    public var readTimeMax: Duration = .seconds(30)
    /// The budget of one read on the event loop: work (see `ReadBudget`; this is about a
    /// millisecond), time for that work, which matters for functions that take long, and bytes of
    /// the reply. A longer read moves to the reader pool. A save on the event loop has the same
    /// limits.
    public var inlineWorkMax = 40_000
    public var inlineTimeMax: Duration = .milliseconds(10)
    public var inlineBatchBytesMax = 128 << 10
    /// The time for which one connection may use its event loop before it lets others run.
    public var turnTimeMax: Duration = .milliseconds(2)
    /// The size of a batch of a streamed result. See
    /// `docs/decisions/0023-batches-of-a-long-result.md`.
    public var batchBytesMax = 64 << 10
    /// Readers of the pool, in total and per connection.
    public var readersMax = 16
    public var readersPerConnectionMax = 4
    /// Reads that wait for a reader, in total and per user id, and the time that they wait.
    public var readsWaitingMax = 1_024
    public var readsWaitingPerUserMax = 512
    public var readerWaitTimeMax: Duration = .seconds(5)
    /// Cached plans per event loop, and the bytes of the query shapes that identify them.
    public var plansMax = 512
    public var planShapeBytesMax = 4 << 20
    /// The memory of the reply cache, in total.
    public var replyCacheBytesMax = 16 << 20

    // Writes.

    /// Writes that wait for the writer, and the bytes of their frames.
    public var writesQueuedMax = 4_096
    public var writeBytesQueuedMax = 256 << 20
    /// The time that a write may wait. After that the server rejects it unexecuted.
    public var writeWaitTimeMax: Duration = .seconds(30)
    /// The number of consecutive requests of one connection after which it has its event loop to
    /// itself, so that its saves run on the loop.
    public var consecutiveRequestsMin = 16
    /// Change sets, and bytes of their frames, per commit.
    public var writeGroupMax = 256
    public var writeGroupBytesMax = 16 << 20

    // Insert streams.

    /// Insert streams that are one transaction each, and the disk space for their rows, in total.
    public var atomicStreamsMax = 64
    public var spoolBytesMax = 8 << 30
    /// The time from the opening of such a stream to its commit.
    public var atomicStreamTimeMax: Duration = .seconds(3_600)
    /// The interval of progress replies while such a stream is stored, and the interval at which
    /// the deadlines of waiting writes are checked during that time.
    public var progressInterval: Duration = .seconds(1)
    public var expiryInterval: Duration = .milliseconds(50)

    // Shutdown.

    /// The time for which a stopping server waits for its connections.
    public var stopTimeMax: Duration = .seconds(10)

    public init() {}

    /// The maximum of open connections, given the number of descriptors that the process may open:
    /// three quarters of them less 64, but at least ``connectionsFloor``.
    func connectionsMax(descriptorLimit: Int) -> Int {
        min(connectionsMax, max(Self.connectionsFloor, descriptorLimit / 4 * 3 - 64))
    }

    static let connectionsFloor = 16
}
