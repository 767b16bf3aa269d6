import LarderModel

/// The named maxima of what connections may take: numbers, bytes and times.
///
/// What the vocabulary itself bounds (depth of expressions, lengths of names) stands in `Limits`.
public struct ServerLimits: Hashable, Sendable {
    // Connections.

    /// Connections at once, all together and for one user id.
    public var connectionsMax = 1_024
    public var connectionsPerUserMax = 256
    /// From the connection to the first valid frame, and how many may be that far at once.
    public var handshakeTimeMax: Duration = .seconds(5)
    public var handshakesPendingMax = 64
    /// A frame, and a frame before the handshake is done.
    public var frameBytesMax = Limits.frameBytesMax
    public var handshakeFrameBytesMax = Limits.handshakeFrameBytesMax
    /// Requests of one connection that are not answered yet; past it the server stops reading.
    public var requestsInFlightMax = 32

    // Bytes that wait.

    /// Of one connection's answers: past the hard bound it is ended, past the soft one only if it
    /// stays there for `queuedBytesSoftTimeMax`.
    public var queuedBytesMax = 8 << 20
    public var queuedBytesSoftMax = 2 << 20
    public var queuedBytesSoftTimeMax: Duration = .seconds(30)
    /// Answers and writes of one user id that wait.
    public var queuedBytesPerUserMax = 128 << 20
    /// How long the last words to a refused peer may take to leave.
    public var farewellTimeMax: Duration = .seconds(2)

    // Reads.

    /// A query from its arrival to its last batch, and with it the snapshot that it reads.
    public var readTimeMax: Duration = .seconds(30)
    /// What a read may do on the event loop: steps of the database (about a millisecond of them),
    /// time, for those steps that call a function which takes long, and bytes of answer. A read
    /// that needs more moves to the reader pool.
    public var inlineStepsMax = 40_000
    public var inlineTimeMax: Duration = .milliseconds(10)
    public var inlineBatchBytesMax = 64 << 10
    /// How long one connection may keep its event loop before others have their turn.
    public var turnTimeMax: Duration = .milliseconds(2)
    /// A batch of a streamed answer.
    public var batchBytesMax = 256 << 10
    /// Readers of the pool, all together and for one connection.
    public var readersMax = 16
    public var readersPerConnectionMax = 4
    /// How many reads may wait for a reader, all together and for one user id, and how long.
    public var readsWaitingMax = 1_024
    public var readsWaitingPerUserMax = 512
    public var readerWaitTimeMax: Duration = .seconds(5)
    /// Plans that each event loop keeps, and the bytes of the shapes that name them.
    public var plansMax = 512
    public var planShapeBytesMax = 4 << 20
    /// What the answers to reads by identifier take that are kept to be given again, all together.
    public var knownReplyBytesMax = 16 << 20

    // Writes.

    /// Change sets that wait for the writer, and the bytes of the frames that they came in.
    public var writesQueuedMax = 4_096
    public var writeBytesQueuedMax = 256 << 20
    /// A write may wait this long before it is refused unexecuted.
    public var writeWaitTimeMax: Duration = .seconds(30)
    /// So many requests of an event loop have to have come from one connection, one behind the
    /// other, before its saves are carried out on the loop.
    public var requestsAloneMin = 16
    /// Change sets, and bytes of their frames, that are committed together.
    public var writeGroupMax = 256
    public var writeGroupBytesMax = 16 << 20

    // Streams of new objects.

    /// Streams that become one transaction: how many there are at once, and what their rows may
    /// take beside the store until the last have come, all together.
    public var atomicStreamsMax = 64
    public var spoolBytesMax = 8 << 30
    /// How long such a stream may take, from its opening to its last row.
    public var atomicStreamTimeMax: Duration = .seconds(3_600)
    /// How often the client hears of one that is being stored, and how often those are looked at
    /// whose writes wait meanwhile.
    public var progressInterval: Duration = .seconds(1)
    public var expiryInterval: Duration = .milliseconds(50)

    // The end.

    /// How long a stopping server waits for its connections to take their answers.
    public var stopTimeMax: Duration = .seconds(10)

    public init() {}

    /// Connections at once, given how many descriptors the process may open: never more than three
    /// quarters of them less 64, yet a few even where descriptors are scarce.
    func connectionsMax(descriptorLimit: Int) -> Int {
        min(connectionsMax, max(Self.connectionsFloor, descriptorLimit / 4 * 3 - 64))
    }

    static let connectionsFloor = 16
}
