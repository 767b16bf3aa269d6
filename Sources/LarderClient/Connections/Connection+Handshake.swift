import LarderModel
internal import LarderWire

extension Connection {
    /// The request that opens a connection has this id.
    private static let helloID: UInt64 = 1

    /// Introduces the client over a socket that was just connected, and learns whose store it is.
    convenience init(
        greetingOver socket: Socket, options: StoreClient.Options,
        until deadline: Moment
    ) throws(LarderError) {
        let reader = ReplyReader(socket: socket)
        let hello = Hello(clientName: options.clientName, schemaVersion: options.schemaVersion)
        try Connection.send(hello, over: socket, until: deadline)
        let welcome = try Connection.receiveWelcome(reader, until: deadline)
        reader.allowLongFrames()
        self.init(
            socket: socket, reader: reader, welcome: welcome, lastID: Connection.helloID)
    }

    private static func send(
        _ hello: Hello, over socket: Socket, until deadline: Moment
    ) throws(LarderError) {
        var frame: [UInt8] = []
        try WireCodec().encode(
            RequestEnvelope(id: helloID, request: .hello(hello)), into: &frame)
        guard frame.count - Frame.lengthBytes <= Limits.handshakeFrameBytesMax else {
            throw LarderError(.frameTooLong, "the client's name or schema version is too long")
        }
        var sent = 0
        while sent < frame.count {
            switch socket.send(frame, from: sent) {
            case .sent(let byteCount): sent += byteCount
            case .full:
                guard socket.waitUntilWritable(until: deadline) else { throw noAnswer }
            case .failed:
                // The server may have said why before it closed.
                return
            }
        }
    }

    private static func receiveWelcome(
        _ reader: ReplyReader, until deadline: Moment
    ) throws(LarderError) -> Welcome {
        while true {
            switch reader.read(until: deadline) {
            case .timedOut: throw noAnswer
            case .ended(let error): throw error
            case .received:
                var replies: [Result<ReplyEnvelope, WireFailure>] = []
                reader.takeReplies { replies.append($0) }
                guard let reply = replies.first else { continue }
                return try welcome(in: reply, isOnly: replies.count == 1)
            }
        }
    }

    private static func welcome(
        in reply: Result<ReplyEnvelope, WireFailure>, isOnly: Bool
    ) throws(LarderError) -> Welcome {
        switch reply {
        case .failure(let failure):
            throw LarderError(
                failure.error.code, "no handshake: \(failure.error.message)",
                hint: "does a larderd serve this socket?")
        case .success(let envelope):
            if case .failed(let error) = envelope.reply { throw error }
            guard case .welcome(let welcome) = envelope.reply, envelope.id == helloID, isOnly else {
                throw LarderError(
                    .malformedMessage, "the server answered the handshake with something else")
            }
            guard welcome.protocolVersion == WireProtocol.version else {
                throw LarderError(
                    .unsupportedVersion,
                    "the server speaks version \(welcome.protocolVersion) of the protocol, "
                        + "this client version \(WireProtocol.version)",
                    hint: "update the older of the two")
            }
            return welcome
        }
    }

    private static var noAnswer: LarderError {
        LarderError(
            .connectionFailed, "the server did not answer the handshake in time",
            hint: "it is busy, or stopped")
    }
}
