internal import CLarderProto
internal import LarderModel

/// What stands in an envelope: a message, and the number of its field there.
struct EnvelopeBody {
    /// Whoever makes it keeps what it points at until it is sent.
    enum Content {
        /// In the arena, as the message that it is part of; protobuf-c packs it.
        case message(UnsafePointer<ProtobufCMessage>)
        /// Encoded already.
        case bytes(UnsafeRawBufferPointer)
        case batches(UnsafeBufferPointer<Batch>, more: Bool)
    }

    let number: UInt32
    let content: Content

    init(_ field: Larder__V1__Envelope__BodyCase, _ content: Content) {
        number = field.rawValue
        self.content = content
    }

    /// Each message of protobuf-c begins with the part that all have.
    init<Message>(_ field: Larder__V1__Envelope__BodyCase, _ message: UnsafeMutablePointer<Message>)
    {
        let start = UnsafeRawPointer(message).assumingMemoryBound(to: ProtobufCMessage.self)
        self.init(field, .message(start))
    }

    var byteCount: Int {
        switch content {
        case .message(let message):
            return protobuf_c_message_get_packed_size(message)
        case .bytes(let bytes):
            return bytes.count
        case .batches(let batches, let more):
            var count = FieldWriter.byteCount(ofNumber: more ? 1 : 0)
            for place in batches.indices {
                count += FieldWriter.byteCount(ofMessage: BatchFields(batches[place]).byteCount)
            }
            return count
        }
    }

    /// - Parameter memory: ``byteCount`` bytes.
    func pack(into memory: UnsafeMutableRawBufferPointer) {
        switch content {
        case .message(let message):
            protobuf_c_message_pack(message, memory.assumingMemoryBound(to: UInt8.self).baseAddress)
        case .bytes(let bytes):
            memory.copyMemory(from: bytes)
        case .batches(let batches, let more):
            var writer = FieldWriter(memory)
            writer.number(2, more ? 1 : 0)
            for place in batches.indices.reversed() {
                BatchFields(batches[place]).pack(as: 1, into: &writer)
            }
            precondition(writer.freeByteCount == 0, "the bytes were counted")
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
            return EnvelopeBody(LARDER__V1__ENVELOPE__BODY_GET, .bytes(bytes.bytes))
        case .query(let query):
            return EnvelopeBody(LARDER__V1__ENVELOPE__BODY_QUERY, try self.query(query))
        case .explain(let query):
            return EnvelopeBody(LARDER__V1__ENVELOPE__BODY_EXPLAIN, try self.query(query))
        case .save(let set):
            try save(set, into: bytes)
            return EnvelopeBody(LARDER__V1__ENVELOPE__BODY_SAVE, .bytes(bytes.bytes))
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
            bytes.number(1, requestID)
            if let batch { bytes.batch(2, batch) }
            bytes.number(3, isLast ? 1 : 0)
            return EnvelopeBody(LARDER__V1__ENVELOPE__BODY_ROWS, .bytes(bytes.bytes))
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

    /// - Parameter bytes: For the replies that are written without structures.
    func body(_ reply: Reply, into bytes: MessageBytes) throws(LarderError) -> EnvelopeBody {
        switch reply {
        case .welcome(let welcome):
            return EnvelopeBody(LARDER__V1__ENVELOPE__BODY_WELCOME, self.welcome(welcome))
        case .batches(let batches, let more):
            return EnvelopeBody(
                LARDER__V1__ENVELOPE__BODY_BATCHES,
                .batches(batches.withUnsafeBufferPointer { $0 }, more: more))
        case .encodedBatches(let batches, more: false):
            guard let encoded = batches.encodedBytes else { break }
            return EnvelopeBody(
                LARDER__V1__ENVELOPE__BODY_BATCHES,
                .bytes(encoded.withUnsafeBytes { $0 }))
        case .encodedBatches: break
        case .saved(let result):
            try bytes.saved(result)
            return EnvelopeBody(LARDER__V1__ENVELOPE__BODY_SAVED, .bytes(bytes.bytes))
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
        throw MessageReader.malformed("a reply that was received is not sent on")
    }
}
