internal import CLarderProto
internal import FoundationEssentials
internal import LarderModel

extension Hello {
    init(_ wire: Larder__V1__Hello) throws(LarderError) {
        self.init(
            protocolVersion: wire.protocol_version,
            clientName: try wire.client_name.text(
                "the client's name", bytesMax: Limits.nameBytesMax),
            schemaVersion: try wire.schema_version.text(
                "the schema version", bytesMax: Limits.nameBytesMax),
            schemaFingerprint: try wire.schema_fingerprint.text(
                "the schema fingerprint", bytesMax: Limits.nameBytesMax))
    }
}

extension Welcome {
    init(_ wire: Larder__V1__WelcomeReply) throws(LarderError) {
        self.init(
            protocolVersion: wire.protocol_version,
            serverName: try wire.server_name.text("the server's name"),
            storeIdentifier: try UUID(wire.store.bytes, "the store's identifier"),
            schemaVersion: try wire.schema_version.text("the schema version"),
            schemaFingerprint: try wire.schema_fingerprint.text("the schema fingerprint"),
            isReadOnly: wire.read_only != 0,
            capabilities: try MessageReader.texts(
                wire.capabilities, wire.n_capabilities, "capabilities",
                maximum: Welcome.capabilitiesMax),
            frameBytesMax: wire.frame_bytes_max,
            requestsInFlightMax: wire.requests_in_flight_max)
    }

    private static let capabilitiesMax = 1_024
}

extension MessageWriter {
    func hello(_ hello: Hello) -> UnsafeMutablePointer<Larder__V1__Hello> {
        let wire = make(larder__v1__hello__init)
        wire.pointee.protocol_version = hello.protocolVersion
        wire.pointee.client_name = text(hello.clientName)
        wire.pointee.schema_version = text(hello.schemaVersion)
        wire.pointee.schema_fingerprint = text(hello.schemaFingerprint)
        return wire
    }

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
        return wire
    }
}
