internal import CLarderProto
package import FoundationEssentials
internal import LarderModel

/// The reply to `Hello`: the store, and the limits of the connection.
package struct Welcome: Hashable, Sendable {
    package var protocolVersion: UInt32
    /// `larderd` and its version, for people.
    package var serverName: String
    package var storeIdentifier: UUID
    package var schemaVersion: String
    package var schemaFingerprint: String
    package var isReadOnly: Bool
    /// Names of optional features. A client ignores those that it does not know.
    package var capabilities: [String]
    package var frameBytesMax: UInt32
    package var requestsInFlightMax: UInt32
    /// The epoch of the store's history tokens.
    package var historyEpoch: Int64
    /// The longest object that the server accepts; 0 is 16 MiB.
    package var objectBytesMax: UInt32

    package init(
        protocolVersion: UInt32 = WireProtocol.version, serverName: String, storeIdentifier: UUID,
        schemaVersion: String, schemaFingerprint: String, isReadOnly: Bool,
        capabilities: [String] = [], frameBytesMax: UInt32, requestsInFlightMax: UInt32,
        historyEpoch: Int64 = 0, objectBytesMax: UInt32 = 0
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
        self.historyEpoch = historyEpoch
        self.objectBytesMax = objectBytesMax
    }
}

extension Welcome {
    init(_ wire: Larder__V1__WelcomeReply) throws(LarderError) {
        self.init(
            protocolVersion: wire.protocol_version,
            serverName: try wire.server_name.text("the server's name"),
            storeIdentifier: try wire.store.bytes.uuid("the store's identifier"),
            schemaVersion: try wire.schema_version.text("the schema version"),
            schemaFingerprint: try wire.schema_fingerprint.text("the schema fingerprint"),
            isReadOnly: wire.read_only != 0,
            capabilities: try ProtobufReader.texts(
                wire.capabilities, wire.n_capabilities, "capabilities",
                maximum: Welcome.capabilitiesMax),
            frameBytesMax: wire.frame_bytes_max,
            requestsInFlightMax: wire.requests_in_flight_max, historyEpoch: wire.history_epoch,
            objectBytesMax: wire.object_bytes_max)
    }

    private static let capabilitiesMax = 1_024
}

extension ProtobufWriter {
    func welcome(_ welcome: Welcome) -> UnsafeMutablePointer<Larder__V1__WelcomeReply> {
        let wire = make(larder__v1__welcome_reply__init)
        wire.pointee.protocol_version = welcome.protocolVersion
        wire.pointee.server_name = text(welcome.serverName)
        wire.pointee.store = uuid(welcome.storeIdentifier)
        wire.pointee.schema_version = text(welcome.schemaVersion)
        wire.pointee.schema_fingerprint = text(welcome.schemaFingerprint)
        wire.pointee.read_only = welcome.isReadOnly ? 1 : 0
        wire.pointee.n_capabilities = welcome.capabilities.count
        wire.pointee.capabilities = texts(welcome.capabilities)
        wire.pointee.frame_bytes_max = welcome.frameBytesMax
        wire.pointee.requests_in_flight_max = welcome.requestsInFlightMax
        wire.pointee.history_epoch = welcome.historyEpoch
        wire.pointee.object_bytes_max = welcome.objectBytesMax
        return wire
    }
}
