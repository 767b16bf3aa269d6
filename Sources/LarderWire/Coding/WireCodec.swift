internal import CLarderProto
public import LarderModel

/// Turns frames' bytes into messages and back. One a connection, used from one thread at a time:
/// it owns the arena into which messages are unpacked, and memory in which requests are written.
///
/// Of a message it keeps nothing once a call has returned, but for the names in the last `get`,
/// which as a rule are those of the next. Everything that it decodes has been checked; see `Proto/`
/// for what each field may hold.
public final class WireCodec {
    private let arena = Arena()
    private let bytes = MessageBytes()
    private var getReader = GetReader()

    public init() {}

    /// Decodes the bytes of one frame, without its length.
    ///
    /// - Throws: ``WireFailure``: `malformedFrame`, which is fatal, for bytes that are no envelope;
    ///   `unknownMessage` for a request that is not known or a reply; `malformedMessage`,
    ///   `malformedValue`, `malformedIdentifier`, `resourceExhausted` for what is wrong inside.
    public func decodeRequest(
        _ frame: UnsafeRawBufferPointer
    ) throws(WireFailure) -> RequestEnvelope {
        let header = try EnvelopeHeader(frame)
        guard header.id != 0 else {
            throw header.failure(.malformedMessage, "a request has the id 0")
        }
        do throws(LarderError) {
            defer { arena.reset() }
            arena.reset(bytesMax: Arena.bytesMax(forBodyOf: header.body.count))
            return RequestEnvelope(
                id: header.id, timeoutMilliseconds: header.timeoutMilliseconds,
                request: try request(header.bodyNumber, header.body))
        } catch {
            throw header.failure(error)
        }
    }

    /// As ``decodeRequest(_:)``, for what a server answers.
    ///
    /// - Parameter leavesBatches: Whether batches may stay encoded, for whoever asked to read them.
    public func decodeReply(
        _ frame: UnsafeRawBufferPointer, leavesBatches: Bool = false
    ) throws(WireFailure) -> ReplyEnvelope {
        let header = try EnvelopeHeader(frame)
        do throws(LarderError) {
            defer { arena.reset() }
            arena.reset(bytesMax: Arena.bytesMax(forBodyOf: header.body.count))
            return ReplyEnvelope(
                id: header.id,
                reply: try reply(header.bodyNumber, header.body, leavesBatches: leavesBatches))
        } catch {
            throw header.failure(error)
        }
    }

    /// Appends one whole frame, length included, to the sink.
    ///
    /// - Throws: `frameTooLong` if it would exceed `Limits.frameBytesMax`; the sink is untouched.
    public func encode(
        _ envelope: RequestEnvelope, into sink: inout some FrameSink
    ) throws(LarderError) {
        guard envelope.id != 0 else { throw MessageReader.malformed("a request has the id 0") }
        defer {
            arena.reset()
            bytes.removeAll()
        }
        // The message points into arrays of the request, which the caller's envelope keeps.
        try withExtendedLifetime(envelope) { () throws(LarderError) in
            let body = try MessageWriter(arena: arena).body(envelope.request, into: bytes)
            try WireCodec.write(
                EnvelopeWriter(
                    id: envelope.id, timeoutMilliseconds: envelope.timeoutMilliseconds, body),
                into: &sink)
        }
    }

    public func encode(
        _ envelope: ReplyEnvelope, into sink: inout some FrameSink
    ) throws(LarderError) {
        defer {
            arena.reset()
            bytes.removeAll()
        }
        // The message points into arrays of the reply: the envelope keeps them.
        try withExtendedLifetime(envelope) { () throws(LarderError) in
            let body = try MessageWriter(arena: arena).body(envelope.reply, into: bytes)
            try WireCodec.write(EnvelopeWriter(id: envelope.id, body), into: &sink)
        }
    }

    /// Writes an envelope straight into the sink's memory, behind its length.
    private static func write(
        _ writer: EnvelopeWriter, into sink: inout some FrameSink
    ) throws(LarderError) {
        let length = writer.byteCount
        guard length <= Limits.frameBytesMax else {
            throw LarderError(
                .frameTooLong,
                "the message has \(length) bytes, and \(Limits.frameBytesMax) are allowed",
                hint: "send less at once")
        }
        sink.append(byteCount: Frame.lengthBytes + length) { memory in
            memory.storeBytes(of: UInt32(length).bigEndian, as: UInt32.self)
            writer.write(to: UnsafeMutableRawBufferPointer(rebasing: memory[Frame.lengthBytes...]))
        }
    }

    private func request(
        _ number: UInt32, _ body: UnsafeRawBufferPointer
    ) throws(LarderError) -> Request {
        switch Larder__V1__Envelope__BodyCase(rawValue: number) {
        case LARDER__V1__ENVELOPE__BODY_HELLO:
            return .hello(try Hello(arena.unpack(body, larder__v1__hello__unpack)))
        case LARDER__V1__ENVELOPE__BODY_GET:
            return try getReader.request(body)
        case LARDER__V1__ENVELOPE__BODY_QUERY:
            return .query(try QueryRequest(arena.unpack(body, larder__v1__query_request__unpack)))
        case LARDER__V1__ENVELOPE__BODY_EXPLAIN:
            return .explain(try QueryRequest(arena.unpack(body, larder__v1__query_request__unpack)))
        case LARDER__V1__ENVELOPE__BODY_SAVE:
            if let plain = ChangeSet(plain: body) { return .save(plain) }
            return .save(try ChangeSet(arena.unpack(body, larder__v1__change_set__unpack)))
        case LARDER__V1__ENVELOPE__BODY_SCHEMA:
            _ = try arena.unpack(body, larder__v1__schema_request__unpack)
            return .schema
        case LARDER__V1__ENVELOPE__BODY_STATISTICS:
            _ = try arena.unpack(body, larder__v1__statistics_request__unpack)
            return .statistics
        case LARDER__V1__ENVELOPE__BODY_CHECK:
            _ = try arena.unpack(body, larder__v1__check_request__unpack)
            return .check
        case LARDER__V1__ENVELOPE__BODY_INSERT_ROWS:
            return .insertRows(
                try Insertion(arena.unpack(body, larder__v1__insert_request__unpack)))
        case LARDER__V1__ENVELOPE__BODY_ROWS:
            return try .rows(encoded: body)
        case LARDER__V1__ENVELOPE__BODY_PING:
            _ = try arena.unpack(body, larder__v1__ping_request__unpack)
            return .ping
        case LARDER__V1__ENVELOPE__BODY_CREDIT:
            let credit = try arena.unpack(body, larder__v1__credit_request__unpack)
            return .credit(requestID: credit.request_id, batches: credit.batches)
        case LARDER__V1__ENVELOPE__BODY_CANCEL:
            let cancel = try arena.unpack(body, larder__v1__cancel_request__unpack)
            return .cancel(requestID: cancel.request_id)
        default:
            throw LarderError(
                .unknownMessage, "the message \(number) is no request of protocol version 1")
        }
    }

    private func reply(
        _ number: UInt32, _ body: UnsafeRawBufferPointer, leavesBatches: Bool
    ) throws(LarderError) -> Reply {
        switch Larder__V1__Envelope__BodyCase(rawValue: number) {
        case LARDER__V1__ENVELOPE__BODY_WELCOME:
            return .welcome(try Welcome(arena.unpack(body, larder__v1__welcome_reply__unpack)))
        case LARDER__V1__ENVELOPE__BODY_BATCHES:
            let more = try EncodedBatches.more(in: body)
            return leavesBatches
                ? .encodedBatches(try EncodedBatches(body), more: more)
                : .batches(try EncodedBatches.batches(in: body), more: more)
        case LARDER__V1__ENVELOPE__BODY_SAVED:
            return .saved(try SaveResult(encoded: body))
        case LARDER__V1__ENVELOPE__BODY_EXPLAINED:
            return .explained(
                try Explanation(arena.unpack(body, larder__v1__explain_reply__unpack)))
        case LARDER__V1__ENVELOPE__BODY_SCHEMA_TEXT:
            let wire = try arena.unpack(body, larder__v1__schema_reply__unpack)
            return .schema(try wire.json.text("the schema", bytesMax: Limits.schemaBytesMax))
        case LARDER__V1__ENVELOPE__BODY_FIGURES:
            let wire = try arena.unpack(body, larder__v1__statistics_reply__unpack)
            return .statistics(try Statistic.list(wire))
        case LARDER__V1__ENVELOPE__BODY_CHECKED:
            return .checked(try CheckReport(arena.unpack(body, larder__v1__check_reply__unpack)))
        case LARDER__V1__ENVELOPE__BODY_INSERTED:
            let wire = try arena.unpack(body, larder__v1__insert_reply__unpack)
            return .inserted(try InsertedRows(wire), more: wire.more != 0)
        case LARDER__V1__ENVELOPE__BODY_PONG:
            _ = try arena.unpack(body, larder__v1__pong_reply__unpack)
            return .pong
        case LARDER__V1__ENVELOPE__BODY_FAILED:
            return .failed(try LarderError(arena.unpack(body, larder__v1__error_reply__unpack)))
        default:
            throw LarderError(
                .unknownMessage, "the message \(number) is no reply of protocol version 1")
        }
    }
}
