internal import CLarderProto
package import LarderModel

extension WireCodec {
    /// Appends one whole frame, length included, to the sink.
    ///
    /// - Throws: `frameTooLong` if it would exceed ``frameBytesMax``; the sink is unchanged.
    package func encode(
        _ envelope: RequestEnvelope, into sink: inout some FrameSink
    ) throws(LarderError) {
        guard envelope.id != 0 else { throw .malformed("the request has the id 0") }
        defer { reset() }
        let (field, body) = try body(of: envelope.request)
        try append(
            envelope.id, timeoutMilliseconds: envelope.timeoutMilliseconds,
            snapshot: envelope.snapshot, trace: envelope.trace, field, body, to: &sink)
    }

    package func encode(
        _ envelope: ReplyEnvelope, into sink: inout some FrameSink
    ) throws(LarderError) {
        defer { reset() }
        let (field, body) = try body(of: envelope.reply)
        try append(envelope.id, field, body, to: &sink)
    }

    private func reset() {
        arena.reset()
        buffer.removeAll()
    }

    /// The body of an envelope, ready to be copied or packed into a frame.
    private enum Body {
        /// Built in the arena; protobuf-c packs it.
        case message(UnsafePointer<ProtobufCMessage>)
        /// Written to the codec's buffer, where a message without fields takes no bytes.
        case buffer
        case encoded([UInt8])
        /// Packed straight into the frame.
        case batches([Batch], more: Bool)
    }

    /// Writes an envelope straight into the sink's memory.
    private func append(
        _ id: UInt64, timeoutMilliseconds: UInt32 = 0, snapshot: UInt64 = 0, trace: String = "",
        _ field: Larder__V1__Envelope__BodyCase, _ body: Body, to sink: inout some FrameSink
    ) throws(LarderError) {
        let bodyTag = UInt64(field.rawValue) << 3 | 2
        let bodyByteCount = byteCount(of: body)
        let headByteCount =
            FieldWriter.byteCount(ofNumber: id)
            + FieldWriter.byteCount(ofNumber: UInt64(timeoutMilliseconds))
            + FieldWriter.byteCount(ofNumber: snapshot)
            + FieldWriter.byteCount(ofBytes: trace.utf8.count)
            + FieldWriter.byteCount(bodyTag) + FieldWriter.byteCount(UInt64(bodyByteCount))
        let length = headByteCount + bodyByteCount
        guard length <= frameBytesMax else {
            throw LarderError(
                .frameTooLong,
                "the message has \(length) bytes; at most \(frameBytesMax) are allowed",
                hint: "split the request")
        }
        sink.append(byteCount: Frame.lengthBytes + length) { memory in
            // It fits: it is at most `frameBytesMax`.
            memory.storeBytes(of: UInt32(length).bigEndian, as: UInt32.self)
            let start = Frame.lengthBytes + headByteCount
            let head = memory[Frame.lengthBytes..<start]
            var writer = FieldWriter(UnsafeMutableRawBufferPointer(rebasing: head))
            writer.put(UInt64(bodyByteCount))
            writer.put(bodyTag)
            writer.text(4, trace)
            writer.number(3, snapshot)
            writer.number(2, UInt64(timeoutMilliseconds))
            writer.number(1, id)
            writer.finish()
            write(body, to: UnsafeMutableRawBufferPointer(rebasing: memory[start...]))
        }
    }

    private func byteCount(of body: Body) -> Int {
        switch body {
        case .message(let message): protobuf_c_message_get_packed_size(message)
        case .buffer: buffer.byteCount
        case .encoded(let bytes): bytes.count
        case .batches(let batches, let more): EncodedBatches.byteCount(batches, more: more)
        }
    }

    /// - Parameter memory: Has the body's byte count; valid during the call.
    private func write(_ body: Body, to memory: UnsafeMutableRawBufferPointer) {
        switch body {
        case .message(let message):
            protobuf_c_message_pack(message, memory.assumingMemoryBound(to: UInt8.self).baseAddress)
        case .buffer: buffer.copyBytes(to: memory)
        case .encoded(let bytes): bytes.withUnsafeBytes { memory.copyMemory(from: $0) }
        case .batches(let batches, let more):
            EncodedBatches.write(batches, more: more, to: memory)
        }
    }

    private func message<Message>(_ message: UnsafeMutablePointer<Message>) -> Body {
        .message(ProtobufWriter.base(of: message))
    }

    /// A body whose only field is a number.
    private func number(_ number: Int64) -> Body {
        buffer.number(1, UInt64(bitPattern: number))
        return .buffer
    }

    private func body(of query: QueryRequest) throws(LarderError) -> Body {
        try buffer.query(query)
        return .buffer
    }

    private func body(
        of request: Request
    ) throws(LarderError) -> (Larder__V1__Envelope__BodyCase, Body) {
        let writer = ProtobufWriter(arena: arena)
        switch request {
        case .hello(let hello):
            return (LARDER__V1__ENVELOPE__BODY_HELLO, message(writer.hello(hello)))
        case .get(let identifiers, let properties):
            try buffer.get(identifiers, properties: properties)
            return (LARDER__V1__ENVELOPE__BODY_GET, .buffer)
        case .query(let query):
            return (LARDER__V1__ENVELOPE__BODY_QUERY, try body(of: query))
        case .explain(let query):
            return (LARDER__V1__ENVELOPE__BODY_EXPLAIN, try body(of: query))
        case .analyze(let query):
            return (LARDER__V1__ENVELOPE__BODY_ANALYZE, try body(of: query))
        case .save(let set):
            try buffer.changeSet(set, writer)
            return (LARDER__V1__ENVELOPE__BODY_SAVE, .buffer)
        case .saveInParts: return (LARDER__V1__ENVELOPE__BODY_SAVE_IN_PARTS, .buffer)
        case .savePart(let requestID, let content, let isLast):
            buffer.savePart(requestID, content, isLast: isLast)
            return (LARDER__V1__ENVELOPE__BODY_SAVE_PART, .buffer)
        case .schema: return (LARDER__V1__ENVELOPE__BODY_SCHEMA, .buffer)
        case .statistics: return (LARDER__V1__ENVELOPE__BODY_STATISTICS, .buffer)
        case .activity: return (LARDER__V1__ENVELOPE__BODY_ACTIVITY, .buffer)
        case .metrics: return (LARDER__V1__ENVELOPE__BODY_METRICS, .buffer)
        case .queryStatistics(let reset):
            buffer.bool(1, reset)
            return (LARDER__V1__ENVELOPE__BODY_QUERY_STATISTICS, .buffer)
        case .endRequests(let connection, let request):
            buffer.number(1, UInt64(bitPattern: connection))
            buffer.number(2, request)
            return (LARDER__V1__ENVELOPE__BODY_END_REQUESTS, .buffer)
        case .check: return (LARDER__V1__ENVELOPE__BODY_CHECK, .buffer)
        case .insertRows(let insertion):
            return (LARDER__V1__ENVELOPE__BODY_INSERT_ROWS, message(writer.insertion(insertion)))
        case .rows(let requestID, let batch, let isLast):
            buffer.rows(requestID, batch, isLast: isLast)
            return (LARDER__V1__ENVELOPE__BODY_ROWS, .buffer)
        case .history(let request):
            try buffer.history(request)
            return (LARDER__V1__ENVELOPE__BODY_HISTORY, .buffer)
        case .deleteHistory(let deletion):
            try buffer.deleteHistory(deletion)
            return (LARDER__V1__ENVELOPE__BODY_DELETE_HISTORY, .buffer)
        case .observe(let request):
            try buffer.observe(request)
            return (LARDER__V1__ENVELOPE__BODY_OBSERVE, .buffer)
        case .openSnapshot: return (LARDER__V1__ENVELOPE__BODY_OPEN_SNAPSHOT, .buffer)
        case .backup(let credit):
            return (LARDER__V1__ENVELOPE__BODY_BACKUP, message(writer.backup(credit: credit)))
        case .migrate(let request):
            return (LARDER__V1__ENVELOPE__BODY_MIGRATE, message(writer.migrate(request)))
        case .ping: return (LARDER__V1__ENVELOPE__BODY_PING, .buffer)
        case .credit(let requestID, let batches):
            buffer.number(1, requestID)
            buffer.number(2, UInt64(batches))
            return (LARDER__V1__ENVELOPE__BODY_CREDIT, .buffer)
        case .cancel(let requestID):
            buffer.number(1, requestID)
            return (LARDER__V1__ENVELOPE__BODY_CANCEL, .buffer)
        }
    }

    private func body(
        of reply: Reply
    ) throws(LarderError) -> (Larder__V1__Envelope__BodyCase, Body) {
        let writer = ProtobufWriter(arena: arena)
        switch reply {
        case .welcome(let welcome):
            return (LARDER__V1__ENVELOPE__BODY_WELCOME, message(writer.welcome(welcome)))
        case .batches(let batches, let more):
            return (LARDER__V1__ENVELOPE__BODY_BATCHES, .batches(batches, more: more))
        case .encodedBatches(let batches, let more):
            return (LARDER__V1__ENVELOPE__BODY_BATCHES, try encoded(batches, more: more))
        case .saved(let result):
            try buffer.saveResult(result)
            return (LARDER__V1__ENVELOPE__BODY_SAVED, .buffer)
        case .savedPart(let result, let partCount):
            try buffer.saveResult(result, partCount: partCount, more: true)
            return (LARDER__V1__ENVELOPE__BODY_SAVED, .buffer)
        case .explained(let explanation):
            try buffer.explanation(explanation)
            return (LARDER__V1__ENVELOPE__BODY_EXPLAINED, .buffer)
        case .schema(let json):
            return (LARDER__V1__ENVELOPE__BODY_SCHEMA_TEXT, message(writer.schema(json)))
        case .statistics(let statistics):
            try buffer.statistics(statistics)
            return (LARDER__V1__ENVELOPE__BODY_STATISTICS_LIST, .buffer)
        case .activity(let activity):
            let wire = try writer.activity(activity)
            return (LARDER__V1__ENVELOPE__BODY_ACTIVITY_REPORT, message(wire))
        case .queryStatistics(let statistics):
            let wire = try writer.queryStatistics(statistics)
            return (LARDER__V1__ENVELOPE__BODY_QUERY_STATISTICS_LIST, message(wire))
        case .metrics(let text):
            buffer.text(1, text)
            return (LARDER__V1__ENVELOPE__BODY_METRICS_TEXT, .buffer)
        case .requestsEnded(let count):
            return (LARDER__V1__ENVELOPE__BODY_ENDED_REQUESTS, number(count))
        case .checked(let report):
            return (LARDER__V1__ENVELOPE__BODY_CHECKED, message(try writer.checkReport(report)))
        case .inserted(let rows, let more):
            let wire = writer.insertedRows(rows, more: more)
            return (LARDER__V1__ENVELOPE__BODY_INSERTED, message(wire))
        case .history(let history, let more):
            try buffer.history(history, more: more)
            return (LARDER__V1__ENVELOPE__BODY_TRANSACTIONS, .buffer)
        case .encodedHistory(let bytes):
            return (LARDER__V1__ENVELOPE__BODY_TRANSACTIONS, .encoded(bytes))
        case .historyDeleted(let count):
            return (LARDER__V1__ENVELOPE__BODY_HISTORY_DELETED, number(count))
        case .observed(let reply, let more):
            try buffer.observed(reply, more: more)
            return (LARDER__V1__ENVELOPE__BODY_OBSERVED, .buffer)
        case .encodedObserved(let bytes):
            return (LARDER__V1__ENVELOPE__BODY_OBSERVED, .encoded(bytes))
        case .snapshotOpened(let position):
            try buffer.token(1, position)
            return (LARDER__V1__ENVELOPE__BODY_SNAPSHOT_OPENED, .buffer)
        case .backup(let part, let more):
            return (LARDER__V1__ENVELOPE__BODY_BACKUP_PART, message(writer.part(part, more: more)))
        case .migrated(let summary):
            return (LARDER__V1__ENVELOPE__BODY_MIGRATED, message(try writer.migration(summary)))
        case .migrationProgress(let step):
            return (LARDER__V1__ENVELOPE__BODY_MIGRATED, message(writer.migrationProgress(step)))
        case .migrationBegun(let session):
            return (LARDER__V1__ENVELOPE__BODY_MIGRATED, message(writer.migrationBegun(session)))
        case .pong: return (LARDER__V1__ENVELOPE__BODY_PONG, .buffer)
        case .failed(let error):
            try buffer.error(error)
            return (LARDER__V1__ENVELOPE__BODY_FAILED, .buffer)
        }
    }

    private func encoded(_ batches: EncodedBatches, more: Bool) throws(LarderError) -> Body {
        guard let encoded = batches.encodedBytes, !more else {
            throw .malformed("a received reply cannot be sent")
        }
        return .encoded(encoded)
    }

    /// Encodes a reply for several observers, each of which gets more.
    package func encoded(_ observed: ObserveReply) throws(LarderError) -> Reply {
        defer { reset() }
        try buffer.observed(observed, more: true)
        return .encodedObserved(buffer.array)
    }

    /// Encodes a reply for several streams, each of which continues.
    package func encoded(_ history: HistoryReply) throws(LarderError) -> Reply {
        defer { reset() }
        try buffer.history(history, more: true)
        return .encodedHistory(buffer.array)
    }
}
