public import FoundationEssentials
internal import LarderModel
internal import LarderWire

/// The server of a connection and its store, as the server describes them in the handshake.
public struct ServerDescription: Hashable, Sendable {
    /// The server program's name and version, for people: `larderd 1.2.0`.
    public let name: String
    /// The store's identity, which is part of each of its objects' identifiers.
    public let storeIdentifier: UUID
    /// The version that the schema file gives.
    public let schemaVersion: String
    /// Sixteen hexadecimal digits; equal for equal schemas.
    public let schemaFingerprint: String
    /// Whether the server refuses every write.
    public let isReadOnly: Bool
    /// Names of optional features. Ignore the names that you do not know.
    public let capabilities: [String]
    /// The longest request that the server accepts, in bytes.
    public let requestBytesMax: Int
    /// The longest object that the server accepts, in bytes.
    public let objectBytesMax: Int
    /// The number of requests on one connection that the server works on at the same time.
    public let requestsInFlightMax: Int
    /// The epoch of the store's history tokens.
    public let historyEpoch: Int64

    init(_ welcome: Welcome) {
        name = welcome.serverName
        storeIdentifier = welcome.storeIdentifier
        schemaVersion = welcome.schemaVersion
        schemaFingerprint = welcome.schemaFingerprint
        isReadOnly = welcome.isReadOnly
        capabilities = welcome.capabilities
        requestBytesMax = Int(welcome.frameBytesMax)
        objectBytesMax =
            welcome.objectBytesMax == 0
            ? Limits.frameBytesMax : min(Int(welcome.objectBytesMax), Limits.objectBytesMax)
        requestsInFlightMax = Int(welcome.requestsInFlightMax)
        historyEpoch = welcome.historyEpoch
    }

    /// The position in the history after a transaction, such as that of a save.
    public func token(after transaction: Int64) -> HistoryToken {
        HistoryToken(store: storeIdentifier, epoch: historyEpoch, number: max(0, transaction))
    }
}
