public import LarderModel

/// What a client asks, with the number under which it will be answered.
public struct RequestEnvelope: Hashable, Sendable {
    /// Chosen by the client, unique among its requests in flight; not 0.
    public var id: UInt64
    /// How long the client will wait, in milliseconds; 0 leaves it to the server's own limit.
    public var timeoutMilliseconds: UInt32
    public var request: Request
    /// The request as it came, if it is one that may come again; see `EncodedGet`.
    public var encoded: [UInt8] = []

    public init(id: UInt64, timeoutMilliseconds: UInt32 = 0, request: Request) {
        self.id = id
        self.timeoutMilliseconds = timeoutMilliseconds
        self.request = request
    }
}

/// One operation of the protocol.
public enum Request: Hashable, Sendable {
    /// The first of a connection, and only the first.
    case hello(Hello)
    /// The objects that exist among these; `properties` nil is all of them.
    case get([PersistentIdentifier], properties: [String]?)
    case query(QueryRequest)
    case explain(QueryRequest)
    case save(ChangeSet)
    /// Opens a stream of new objects, which comes as ``rows(requestID:_:isLast:)``.
    case insertRows(Insertion)
    /// Some rows of such a stream, or none. Has no reply of its own.
    case rows(requestID: UInt64, Batch?, isLast: Bool)
    /// The store's schema file.
    case schema
    case statistics
    /// Looks for what is not as it must be.
    case check
    /// Answered after a round trip through the reader and the writer queue.
    case ping
    /// Allows the stream that answers this request so many batches more. Has no reply of its own.
    case credit(requestID: UInt64, batches: UInt32)
    /// Ends the stream that answers this request. Has no reply of its own.
    case cancel(requestID: UInt64)
}

/// How a client introduces itself.
public struct Hello: Hashable, Sendable {
    public var protocolVersion: UInt32
    /// For logs and, later, history; a program's name.
    public var clientName: String
    /// The schema version or fingerprint that the client was built for; empty for any.
    public var schemaVersion: String
    public var schemaFingerprint: String

    public init(
        protocolVersion: UInt32 = WireProtocol.version, clientName: String,
        schemaVersion: String = "", schemaFingerprint: String = ""
    ) {
        self.protocolVersion = protocolVersion
        self.clientName = clientName
        self.schemaVersion = schemaVersion
        self.schemaFingerprint = schemaFingerprint
    }
}

/// A query whose shape is still encoded, so that a known one need not be decoded again.
public struct QueryRequest: Hashable, Sendable {
    /// The encoded `Query`; equal bytes mean an equal plan. See `QueryCoding`.
    public var shape: [UInt8]
    public var parameters: QueryParameters
    /// How many batches may be sent before the client grants more with ``Request/credit``; 0 sets
    /// no such bound, and the socket alone holds the stream back.
    public var credit: UInt32

    public init(shape: [UInt8], parameters: QueryParameters, credit: UInt32 = 0) {
        self.shape = shape
        self.parameters = parameters
        self.credit = credit
    }
}

public enum WireProtocol {
    /// The only version so far.
    public static let version: UInt32 = 1
}
