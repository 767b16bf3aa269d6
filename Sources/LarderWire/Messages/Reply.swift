public import FoundationEssentials
public import LarderModel

/// What the server answers, under the number of the request.
public struct ReplyEnvelope: Hashable, Sendable {
    /// The request's id; 0 in an error that belongs to no request.
    public var id: UInt64
    public var reply: Reply

    public init(id: UInt64, reply: Reply) {
        self.id = id
        self.reply = reply
    }
}

/// The cases that are large and rare are indirect, so that a reply passes from hand to hand as a
/// few words.
public enum Reply: Hashable, Sendable {
    indirect case welcome(Welcome)
    /// Rows: of `get` one batch an entity in a single reply; of a query one batch a reply, and
    /// `more` in each but the last.
    case batches([Batch], more: Bool)
    /// The same as bytes: where a decoder was told that it may leave them as they came, and where
    /// they are sent again.
    case encodedBatches(EncodedBatches, more: Bool)
    indirect case saved(SaveResult)
    indirect case explained(Explanation)
    /// The schema file's text, canonical.
    case schema(String)
    case statistics([Statistic])
    case checked(CheckReport)
    /// How far a stream of new objects has come; `more` in each reply but the last.
    indirect case inserted(InsertedRows, more: Bool)
    case pong
    /// The request failed; it ends a stream as well.
    indirect case failed(LarderError)
}

/// The answer to `Hello`: which store this is and what it allows.
public struct Welcome: Hashable, Sendable {
    public var protocolVersion: UInt32
    /// `larderd` and its version, for people.
    public var serverName: String
    public var storeIdentifier: UUID
    public var schemaVersion: String
    public var schemaFingerprint: String
    public var isReadOnly: Bool
    /// Names of optional abilities; unknown ones are to be ignored.
    public var capabilities: [String]
    public var frameBytesMax: UInt32
    public var requestsInFlightMax: UInt32

    public init(
        protocolVersion: UInt32 = WireProtocol.version, serverName: String, storeIdentifier: UUID,
        schemaVersion: String, schemaFingerprint: String, isReadOnly: Bool,
        capabilities: [String] = [], frameBytesMax: UInt32, requestsInFlightMax: UInt32
    ) {
        self.protocolVersion = protocolVersion
        self.serverName = serverName
        self.storeIdentifier = storeIdentifier
        self.schemaVersion = schemaVersion
        self.schemaFingerprint = schemaFingerprint
        self.isReadOnly = isReadOnly
        self.capabilities = capabilities
        self.frameBytesMax = frameBytesMax
        self.requestsInFlightMax = requestsInFlightMax
    }
}
