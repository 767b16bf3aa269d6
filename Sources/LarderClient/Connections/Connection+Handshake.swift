import LarderModel
internal import LarderWire

extension Connection {
    /// The id of the first request of a connection.
    private static let helloID: UInt64 = 1

    /// Performs the handshake over a socket that was just connected.
    ///
    /// - Throws: `connectionFailed` if the server does not reply in time or is no Larder server,
    ///   `unsupportedVersion`, and the errors with which a server refuses a handshake.
    convenience init(
        handshakeOver socket: Socket, options: StoreClient.Options,
        until deadline: MonotonicInstant
    ) throws(LarderError) {
        let reader = ReplyReader(socket: socket)
        let hello = Hello(
            clientName: options.clientName, schemaVersion: options.schemaVersion,
            schemaFingerprint: options.schemaFingerprint,
            migrationSession: options.migrationSession,
            frameBytesMax: UInt32(clamping: ReplyReader.frameBytesMax))
        try Connection.send(hello, over: socket, until: deadline)
        let welcome = try Connection.receiveWelcome(reader, until: deadline)
        reader.allowLongFrames()
        self.init(
            socket: socket, reader: reader, welcome: welcome, lastID: Connection.helloID,
            trace: options.trace)
    }

    private static func send(
        _ hello: Hello, over socket: Socket, until deadline: MonotonicInstant
    ) throws(LarderError) {
        var frame: [UInt8] = []
        try WireCodec().encode(
            RequestEnvelope(id: helloID, request: .hello(hello)), into: &frame)
        guard frame.count - Frame.lengthBytes <= Limits.handshakeFrameBytesMax else {
            throw LarderError(
                .frameTooLong, "the client's name or expected schema is too long",
                hint: "shorten Options.clientName, schemaVersion or schemaFingerprint")
        }
        var sent = 0
        while sent < frame.count {
            switch socket.send(frame, from: sent) {
            case .sent(let byteCount): sent += byteCount
            case .full:
                guard socket.waitUntilWritable(until: deadline) else { throw timeout }
            case .failed:
                // The server may have sent an error before it closed the connection.
                return
            }
        }
    }

    private static func receiveWelcome(
        _ reader: ReplyReader, until deadline: MonotonicInstant
    ) throws(LarderError) -> Welcome {
        while true {
            switch reader.read(until: deadline) {
            case .timedOut: throw timeout
            case .ended(let error): throw error
            case .received:
                var replies: [Result<ReplyEnvelope, WireFailure>] = []
                reader.takeReplies { replies.append($0) }
                guard let reply = replies.first else { continue }
                let welcome = try welcome(in: reply)
                // Nothing was requested, so more can only be the reason why the connection ends.
                guard replies.count > 1 else { return welcome }
                if case .success(let next) = replies[1], case .failed(let error) = next.reply {
                    throw error
                }
                throw unexpected
            }
        }
    }

    private static func welcome(
        in reply: Result<ReplyEnvelope, WireFailure>
    ) throws(LarderError) -> Welcome {
        switch reply {
        case .failure(let failure):
            throw LarderError(
                failure.error.code, "the handshake failed: \(failure.error.message)",
                hint: "check that larderd listens at this socket")
        case .success(let envelope):
            if case .failed(let error) = envelope.reply { throw error }
            guard case .welcome(let welcome) = envelope.reply, envelope.id == helloID else {
                throw unexpected
            }
            guard welcome.protocolVersion == WireProtocol.version else {
                throw LarderError(
                    .unsupportedVersion,
                    "the server supports version \(welcome.protocolVersion) of the protocol, "
                        + "and this client version \(WireProtocol.version)",
                    hint: "update the older of the two")
            }
            return welcome
        }
    }

    private static var unexpected: LarderError {
        LarderError(.malformedMessage, "the server replied to the handshake with another message")
    }

    private static var timeout: LarderError {
        LarderError(
            .connectionFailed, "the server did not reply to the handshake in time",
            hint: "the server is overloaded or suspended")
    }
}
