internal import CLarderProto
internal import LarderModel

/// What stands in an envelope: a message, and the number of its field there.
struct EnvelopeBody {
    enum Content {
        /// To be packed: in the arena, as the message that it is part of.
        case message(UnsafePointer<ProtobufCMessage>)
        /// Encoded already; whoever made it keeps the bytes until they are sent.
        case bytes(UnsafeRawBufferPointer)
    }

    let number: UInt32
    let content: Content

    /// Each message of protobuf-c begins with the part that all have.
    init<Message>(_ field: Larder__V1__Envelope__BodyCase, _ message: UnsafeMutablePointer<Message>)
    {
        number = field.rawValue
        content = .message(
            UnsafeRawPointer(message).assumingMemoryBound(to: ProtobufCMessage.self))
    }

    init(_ field: Larder__V1__Envelope__BodyCase, _ bytes: UnsafeRawBufferPointer) {
        number = field.rawValue
        content = .bytes(bytes)
    }

    var byteCount: Int {
        switch content {
        case .message(let message): protobuf_c_message_get_packed_size(message)
        case .bytes(let bytes): bytes.count
        }
    }

    /// - Parameter memory: ``byteCount`` bytes.
    func write(to memory: UnsafeMutableRawBufferPointer) {
        switch content {
        case .message(let message):
            protobuf_c_message_pack(
                message, memory.assumingMemoryBound(to: UInt8.self).baseAddress)
        case .bytes(let bytes): memory.copyMemory(from: bytes)
        }
    }
}

extension MessageWriter {
    /// - Parameter bytes: For the requests that are written without structures.
    func body(
        _ request: Request, into bytes: MessageBytes
    ) throws(LarderError) -> EnvelopeBody {
        switch request {
        case .hello(let hello):
            return EnvelopeBody(LARDER__V1__ENVELOPE__BODY_HELLO, self.hello(hello))
        case .get(let identifiers, let properties):
            try bytes.get(identifiers, properties: properties)
            return EnvelopeBody(LARDER__V1__ENVELOPE__BODY_GET, bytes.bytes)
        case .query(let query):
            return EnvelopeBody(LARDER__V1__ENVELOPE__BODY_QUERY, try self.query(query))
        case .explain(let query):
            return EnvelopeBody(LARDER__V1__ENVELOPE__BODY_EXPLAIN, try self.query(query))
        case .save(let set):
            try save(set, into: bytes)
            return EnvelopeBody(LARDER__V1__ENVELOPE__BODY_SAVE, bytes.bytes)
        case .schema:
            return EnvelopeBody(
                LARDER__V1__ENVELOPE__BODY_SCHEMA, make(larder__v1__schema_request__init))
        case .statistics:
            return EnvelopeBody(
                LARDER__V1__ENVELOPE__BODY_STATISTICS, make(larder__v1__statistics_request__init))
        case .check:
            return EnvelopeBody(
                LARDER__V1__ENVELOPE__BODY_CHECK, make(larder__v1__check_request__init))
        case .insertRows(let insertion):
            return EnvelopeBody(LARDER__V1__ENVELOPE__BODY_INSERT_ROWS, insertRows(insertion))
        case .rows(let requestID, let batch, let isLast):
            return EnvelopeBody(
                LARDER__V1__ENVELOPE__BODY_ROWS, try rows(requestID, batch, isLast: isLast))
        case .ping:
            return EnvelopeBody(
                LARDER__V1__ENVELOPE__BODY_PING, make(larder__v1__ping_request__init))
        case .credit(let requestID, let batches):
            let credit = make(larder__v1__credit_request__init)
            credit.pointee.request_id = requestID
            credit.pointee.batches = batches
            return EnvelopeBody(LARDER__V1__ENVELOPE__BODY_CREDIT, credit)
        case .cancel(let requestID):
            let cancel = make(larder__v1__cancel_request__init)
            cancel.pointee.request_id = requestID
            return EnvelopeBody(LARDER__V1__ENVELOPE__BODY_CANCEL, cancel)
        }
    }

    func body(_ reply: Reply) throws(LarderError) -> EnvelopeBody {
        switch reply {
        case .welcome(let welcome):
            return EnvelopeBody(LARDER__V1__ENVELOPE__BODY_WELCOME, self.welcome(welcome))
        case .batches(let batches, let more):
            return EnvelopeBody(
                LARDER__V1__ENVELOPE__BODY_BATCHES, try self.batches(batches, more: more))
        case .receivedBatches:
            throw MessageReader.malformed("a reply that was received is not sent on")
        case .saved(let result):
            return EnvelopeBody(LARDER__V1__ENVELOPE__BODY_SAVED, try saved(result))
        case .explained(let explanation):
            return EnvelopeBody(LARDER__V1__ENVELOPE__BODY_EXPLAINED, explained(explanation))
        case .schema(let json):
            return EnvelopeBody(LARDER__V1__ENVELOPE__BODY_SCHEMA_TEXT, schema(json))
        case .statistics(let statistics):
            return EnvelopeBody(
                LARDER__V1__ENVELOPE__BODY_FIGURES, try self.statistics(statistics))
        case .checked(let report):
            return EnvelopeBody(LARDER__V1__ENVELOPE__BODY_CHECKED, try checked(report))
        case .inserted(let result, let more):
            return EnvelopeBody(
                LARDER__V1__ENVELOPE__BODY_INSERTED, inserted(result, more: more))
        case .pong:
            return EnvelopeBody(
                LARDER__V1__ENVELOPE__BODY_PONG, make(larder__v1__pong_reply__init))
        case .failed(let error):
            return EnvelopeBody(LARDER__V1__ENVELOPE__BODY_FAILED, try failed(error))
        }
    }
}
