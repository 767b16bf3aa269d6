internal import CLarderProto
internal import LarderModel

/// The first request of a connection: how a client introduces itself.
package struct Hello: Hashable, Sendable {
    package var protocolVersion: UInt32
    /// The name of the client program, for logs and the history.
    package var clientName: String
    /// The schema version or fingerprint that the client was built for; empty for any.
    package var schemaVersion: String
    package var schemaFingerprint: String
    /// The key of the migration session to which the connection belongs; empty for none.
    package var migrationSession: String
    /// The longest frame that the client accepts, without its length; 0 is 16 MiB.
    package var frameBytesMax: UInt32

    package init(
        protocolVersion: UInt32 = WireProtocol.version, clientName: String,
        schemaVersion: String = "", schemaFingerprint: String = "",
        migrationSession: String = "", frameBytesMax: UInt32 = 0
    ) {
        self.protocolVersion = protocolVersion
        self.clientName = clientName
        self.schemaVersion = schemaVersion
        self.schemaFingerprint = schemaFingerprint
        self.migrationSession = migrationSession
        self.frameBytesMax = frameBytesMax
    }
}

extension Hello {
    init(_ wire: Larder__V1__Hello) throws(LarderError) {
        self.init(
            protocolVersion: wire.protocol_version,
            clientName: try wire.client_name.text(
                "the client's name", bytesMax: Limits.nameBytesMax),
            schemaVersion: try wire.schema_version.text(
                "the schema version", bytesMax: Limits.nameBytesMax),
            schemaFingerprint: try wire.schema_fingerprint.text(
                "the schema fingerprint", bytesMax: Limits.nameBytesMax),
            migrationSession: try wire.migration_session.text(
                "the migration session", bytesMax: Limits.nameBytesMax),
            frameBytesMax: wire.frame_bytes_max)
    }
}

extension ProtobufWriter {
    func hello(_ hello: Hello) -> UnsafeMutablePointer<Larder__V1__Hello> {
        let wire = make(larder__v1__hello__init)
        wire.pointee.protocol_version = hello.protocolVersion
        wire.pointee.client_name = text(hello.clientName)
        wire.pointee.schema_version = text(hello.schemaVersion)
        wire.pointee.schema_fingerprint = text(hello.schemaFingerprint)
        wire.pointee.migration_session = text(hello.migrationSession)
        wire.pointee.frame_bytes_max = hello.frameBytesMax
        return wire
    }
}
