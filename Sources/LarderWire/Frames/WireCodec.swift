internal import CLarderProto
internal import LarderModel

/// Decodes the content of frames into messages, and encodes messages as frames.
///
/// There is one codec per connection, used by one thread at a time. It owns the arena into which
/// protobuf-c unpacks messages and the buffer in which messages are written; it stores nothing
/// else between calls. Everything that it decodes has been checked; `Proto/` documents what each
/// field may hold.
package final class WireCodec {
    let arena = Arena()
    let buffer = MessageBuffer()
    /// The longest frame that it encodes, without its length.
    package var frameBytesMax = Limits.frameBytesMax

    package init() {}

    /// Decodes the content of one frame.
    ///
    /// - Throws: ``WireFailure``: `malformedFrame`, which is fatal, if the bytes are not an
    ///   envelope; `unknownMessage` for an unknown request or a reply; `malformedMessage`,
    ///   `malformedValue`, `malformedIdentifier` or `resourceExhausted` for a wrong body.
    package func decodeRequest(_ frame: RawSpan) throws(WireFailure) -> RequestEnvelope {
        let header = try EnvelopeHeader(frame)
        do throws(LarderError) {
            guard header.id != 0 else { throw .malformed("the request has the id 0") }
            defer { arena.reset() }
            arena.reset(bytesMax: Arena.bytesMax(forBodyOf: header.body.byteCount))
            return RequestEnvelope(
                id: header.id, timeoutMilliseconds: header.timeoutMilliseconds,
                snapshot: header.snapshot, trace: try header.traceText(),
                request: try request(header.bodyNumber, header.body))
        } catch {
            throw header.failure(error)
        }
    }

    /// Decodes the content of one frame that a server sent.
    ///
    /// - Parameter leavesBatches: Whether short batches may stay encoded until they are read.
    /// - Throws: as ``decodeRequest(_:)`` does.
    package func decodeReply(
        _ frame: RawSpan, leavesBatches: Bool = false
    ) throws(WireFailure) -> ReplyEnvelope {
        let header = try EnvelopeHeader(frame)
        do throws(LarderError) {
            defer { arena.reset() }
            arena.reset(bytesMax: Arena.bytesMax(forBodyOf: header.body.byteCount))
            return ReplyEnvelope(
                id: header.id,
                reply: try reply(header.bodyNumber, header.body, leavesBatches: leavesBatches))
        } catch {
            throw header.failure(error)
        }
    }

    private func request(_ number: UInt32, _ body: RawSpan) throws(LarderError) -> Request {
        switch Larder__V1__Envelope__BodyCase(rawValue: number) {
        case LARDER__V1__ENVELOPE__BODY_HELLO:
            return .hello(try arena.decode(body, larder__v1__hello__unpack, Hello.init))
        case LARDER__V1__ENVELOPE__BODY_GET: return try .get(decoding: body)
        case LARDER__V1__ENVELOPE__BODY_QUERY: return .query(try QueryRequest(decoding: body))
        case LARDER__V1__ENVELOPE__BODY_EXPLAIN: return .explain(try QueryRequest(decoding: body))
        case LARDER__V1__ENVELOPE__BODY_ANALYZE: return .analyze(try QueryRequest(decoding: body))
        case LARDER__V1__ENVELOPE__BODY_SAVE:
            return .save(try ChangeSet(decoding: body, arena))
        case LARDER__V1__ENVELOPE__BODY_SAVE_IN_PARTS: return try emptyMessage(body, .saveInParts)
        case LARDER__V1__ENVELOPE__BODY_SAVE_PART: return try .savePart(decoding: body)
        case LARDER__V1__ENVELOPE__BODY_SCHEMA: return try emptyMessage(body, .schema)
        case LARDER__V1__ENVELOPE__BODY_STATISTICS: return try emptyMessage(body, .statistics)
        case LARDER__V1__ENVELOPE__BODY_ACTIVITY: return try emptyMessage(body, .activity)
        case LARDER__V1__ENVELOPE__BODY_METRICS: return try emptyMessage(body, .metrics)
        case LARDER__V1__ENVELOPE__BODY_QUERY_STATISTICS:
            return try arena.decode(body, larder__v1__query_statistics_request__unpack) {
                .queryStatistics(reset: $0.reset != 0)
            }
        case LARDER__V1__ENVELOPE__BODY_END_REQUESTS:
            return try arena.decode(body, larder__v1__end_requests_request__unpack) {
                .endRequests(connection: $0.connection, request: $0.request)
            }
        case LARDER__V1__ENVELOPE__BODY_CHECK: return try emptyMessage(body, .check)
        case LARDER__V1__ENVELOPE__BODY_INSERT_ROWS:
            return .insertRows(
                try arena.decode(body, larder__v1__insert_request__unpack, Insertion.init))
        case LARDER__V1__ENVELOPE__BODY_ROWS: return try .rows(decoding: body)
        case LARDER__V1__ENVELOPE__BODY_HISTORY:
            return .history(try HistoryRequest(decoding: body))
        case LARDER__V1__ENVELOPE__BODY_DELETE_HISTORY:
            return .deleteHistory(try HistoryDeletion(decoding: body))
        case LARDER__V1__ENVELOPE__BODY_OBSERVE:
            return .observe(try ObserveRequest(decoding: body))
        case LARDER__V1__ENVELOPE__BODY_OPEN_SNAPSHOT: return try emptyMessage(body, .openSnapshot)
        case LARDER__V1__ENVELOPE__BODY_BACKUP:
            return try arena.decode(body, larder__v1__backup_request__unpack) {
                .backup(credit: $0.credit)
            }
        case LARDER__V1__ENVELOPE__BODY_MIGRATE:
            return .migrate(
                try arena.decode(body, larder__v1__migrate_request__unpack, MigrateRequest.init))
        case LARDER__V1__ENVELOPE__BODY_PING: return try emptyMessage(body, .ping)
        case LARDER__V1__ENVELOPE__BODY_CREDIT:
            return try arena.decode(body, larder__v1__credit_request__unpack) {
                .credit(requestID: $0.request_id, batches: $0.batches)
            }
        case LARDER__V1__ENVELOPE__BODY_CANCEL:
            return try arena.decode(body, larder__v1__cancel_request__unpack) {
                .cancel(requestID: $0.request_id)
            }
        default:
            throw LarderError(
                .unknownMessage, "the message \(number) is not a request of protocol version 1")
        }
    }

    /// Decodes a request without fields. All of them are the same bytes.
    private func emptyMessage(
        _ body: RawSpan, _ request: Request
    ) throws(LarderError) -> Request {
        try arena.decode(body, larder__v1__ping_request__unpack) { _ in request }
    }

    /// Decodes a reply whose only field is a text.
    private func text(
        _ body: RawSpan, _ what: String, bytesMax: Int
    ) throws(LarderError) -> String {
        try arena.decode(body, larder__v1__schema_reply__unpack) { (wire) throws(LarderError) in
            try wire.json.text(what, bytesMax: bytesMax)
        }
    }

    private func reply(
        _ number: UInt32, _ body: RawSpan, leavesBatches: Bool
    ) throws(LarderError) -> Reply {
        switch Larder__V1__Envelope__BodyCase(rawValue: number) {
        case LARDER__V1__ENVELOPE__BODY_WELCOME:
            return .welcome(try arena.decode(body, larder__v1__welcome_reply__unpack, Welcome.init))
        case LARDER__V1__ENVELOPE__BODY_BATCHES:
            let more = try EncodedBatches.more(in: body)
            return leavesBatches
                ? .encodedBatches(try EncodedBatches(body), more: more)
                : .batches(try EncodedBatches.batches(in: body), more: more)
        case LARDER__V1__ENVELOPE__BODY_SAVED: return try .saved(decoding: body)
        case LARDER__V1__ENVELOPE__BODY_EXPLAINED:
            return .explained(try Explanation(decoding: body))
        case LARDER__V1__ENVELOPE__BODY_SCHEMA_TEXT:
            return .schema(try text(body, "the schema", bytesMax: Limits.schemaBytesMax))
        case LARDER__V1__ENVELOPE__BODY_STATISTICS_LIST:
            return .statistics(try Statistic.list(decoding: body))
        case LARDER__V1__ENVELOPE__BODY_ACTIVITY_REPORT:
            return .activity(
                try arena.decode(body, larder__v1__activity_reply__unpack, ServerActivity.init))
        case LARDER__V1__ENVELOPE__BODY_METRICS_TEXT:
            return .metrics(try text(body, "the metrics", bytesMax: Limits.frameBytesMax))
        case LARDER__V1__ENVELOPE__BODY_ENDED_REQUESTS:
            return try arena.decode(body, larder__v1__end_requests_reply__unpack) {
                .requestsEnded($0.count)
            }
        case LARDER__V1__ENVELOPE__BODY_QUERY_STATISTICS_LIST:
            return .queryStatistics(
                try arena.decode(
                    body, larder__v1__query_statistics_reply__unpack, QueryStatistics.init))
        case LARDER__V1__ENVELOPE__BODY_CHECKED:
            return .checked(
                try arena.decode(body, larder__v1__check_reply__unpack, CheckReport.init))
        case LARDER__V1__ENVELOPE__BODY_INSERTED:
            return try arena.decode(body, larder__v1__insert_reply__unpack) {
                (wire) throws(LarderError) in
                .inserted(try InsertedRows(wire), more: wire.more != 0)
            }
        case LARDER__V1__ENVELOPE__BODY_TRANSACTIONS:
            let (reply, more) = try HistoryReply.decode(body)
            return .history(reply, more: more)
        case LARDER__V1__ENVELOPE__BODY_HISTORY_DELETED:
            return try arena.decode(body, larder__v1__delete_history_reply__unpack) {
                .historyDeleted($0.deleted_count)
            }
        case LARDER__V1__ENVELOPE__BODY_OBSERVED:
            let (reply, more) = try ObserveReply.decode(body)
            return .observed(reply, more: more)
        case LARDER__V1__ENVELOPE__BODY_SNAPSHOT_OPENED:
            return .snapshotOpened(try HistoryToken(decodingReply: body))
        case LARDER__V1__ENVELOPE__BODY_BACKUP_PART:
            return try arena.decode(body, larder__v1__backup_reply__unpack) {
                (wire) throws(LarderError) in
                .backup(try BackupPart(wire), more: wire.more != 0)
            }
        case LARDER__V1__ENVELOPE__BODY_MIGRATED:
            return try arena.decode(body, larder__v1__migrate_reply__unpack) {
                (wire) throws(LarderError) in try Reply(migration: wire)
            }
        case LARDER__V1__ENVELOPE__BODY_PONG:
            return try arena.decode(body, larder__v1__pong_reply__unpack) { _ in .pong }
        case LARDER__V1__ENVELOPE__BODY_FAILED: return .failed(try LarderError(decoding: body))
        default:
            throw LarderError(
                .unknownMessage, "the message \(number) is not a reply of protocol version 1")
        }
    }
}
