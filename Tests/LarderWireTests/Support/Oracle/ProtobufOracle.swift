import CLarderProto
import LarderModel

@testable import LarderWire

/// Decodes and encodes with protobuf-c the messages that the library codes by hand.
enum ProtobufOracle {
    /// - Parameter field: The number of the body's field in the envelope.
    /// - Returns: nil for a body that protobuf-c or the checks of its fields reject.
    static func request(_ field: UInt32, _ body: [UInt8]) -> Request? {
        switch field {
        case 11: decode(body, larder__v1__get_request__unpack, get)
        case 12:
            decode(body, larder__v1__query_request__unpack, QueryRequest.init).map(Request.query)
        case 13:
            decode(body, larder__v1__query_request__unpack, QueryRequest.init)
                .map(Request.explain)
        case 14: decode(body, larder__v1__change_set__unpack, ChangeSet.init).map(Request.save)
        case 22: decode(body, larder__v1__rows_request__unpack, rows)
        case 23:
            decode(body, larder__v1__history_request__unpack, HistoryRequest.init)
                .map(Request.history)
        case 24:
            decode(body, larder__v1__delete_history_request__unpack, HistoryDeletion.init)
                .map(Request.deleteHistory)
        case 27:
            decode(body, larder__v1__observe_request__unpack, ObserveRequest.init)
                .map(Request.observe)
        default: nil
        }
    }

    static func reply(_ field: UInt32, _ body: [UInt8]) -> Reply? {
        switch field {
        case 31: decode(body, larder__v1__batches_reply__unpack, batches)
        case 32: decode(body, larder__v1__save_reply__unpack, SaveResult.init).map(Reply.saved)
        case 35: decode(body, larder__v1__statistics_reply__unpack, statistics)
        case 37: decode(body, larder__v1__error_reply__unpack, LarderError.init).map(Reply.failed)
        case 40: decode(body, larder__v1__history_reply__unpack, history)
        case 43:
            decode(body, larder__v1__open_snapshot_reply__unpack, HistoryToken.init)
                .map(Reply.snapshotOpened)
        case 44: decode(body, larder__v1__observe_reply__unpack, observed)
        default: nil
        }
    }

    /// The body after protobuf-c has unpacked and packed it: what its own encoder writes.
    static func repacked(_ field: UInt32, _ body: [UInt8]) -> [UInt8]? {
        switch field {
        case 11: repack(body, larder__v1__get_request__unpack)
        case 12, 13: repack(body, larder__v1__query_request__unpack)
        case 14: repack(body, larder__v1__change_set__unpack)
        case 22: repack(body, larder__v1__rows_request__unpack)
        case 23: repack(body, larder__v1__history_request__unpack)
        case 24: repack(body, larder__v1__delete_history_request__unpack)
        case 27: repack(body, larder__v1__observe_request__unpack)
        case 31: repack(body, larder__v1__batches_reply__unpack)
        case 32: repack(body, larder__v1__save_reply__unpack)
        case 35: repack(body, larder__v1__statistics_reply__unpack)
        case 37: repack(body, larder__v1__error_reply__unpack)
        case 40: repack(body, larder__v1__history_reply__unpack)
        case 43: repack(body, larder__v1__open_snapshot_reply__unpack)
        case 44: repack(body, larder__v1__observe_reply__unpack)
        default: nil
        }
    }

    private typealias Unpack<Message> = (
        UnsafeMutablePointer<ProtobufCAllocator>?, Int, UnsafePointer<UInt8>?
    ) -> UnsafeMutablePointer<Message>?

    private static func decode<Message, Result>(
        _ body: [UInt8], _ unpack: Unpack<Message>,
        _ decode: (Message) throws(LarderError) -> Result
    ) -> Result? {
        try? Arena().decode(body.span.bytes, unpack, decode)
    }

    private static func repack<Message>(
        _ body: [UInt8], _ unpack: Unpack<Message>
    ) -> [UInt8]? {
        let arena = Arena()
        return withExtendedLifetime(arena) {
            guard let message = unpack(arena.allocator, body.count, body) else { return nil }
            let base = ProtobufWriter.base(of: message)
            var bytes = [UInt8](repeating: 0, count: protobuf_c_message_get_packed_size(base))
            protobuf_c_message_pack(base, &bytes)
            return bytes
        }
    }

    private static func get(_ wire: Larder__V1__GetRequest) throws(LarderError) -> Request {
        let identifiers = try ProtobufReader.list(
            wire.identifiers, wire.n_identifiers, "identifiers", maximum: Limits.identifiersMax,
            PersistentIdentifier.init)
        guard let list = wire.properties?.pointee else {
            return .get(identifiers, properties: nil)
        }
        return .get(
            identifiers,
            properties: try ProtobufReader.texts(
                list.names, list.n_names, "names", maximum: Limits.propertiesMax,
                bytesMax: Limits.nameBytesMax))
    }

    private static func rows(_ wire: Larder__V1__RowsRequest) throws(LarderError) -> Request {
        let batch: Batch? =
            if let batch = wire.batch?.pointee { try checked(batch) } else { nil }
        return .rows(requestID: wire.request_id, batch, isLast: wire.last != 0)
    }

    private static func batches(_ wire: Larder__V1__BatchesReply) throws(LarderError) -> Reply {
        .batches(
            try ProtobufReader.list(
                wire.batches, wire.n_batches, "batches", maximum: Limits.entitiesMax, checked),
            more: wire.more != 0)
    }

    private static func statistics(
        _ wire: Larder__V1__StatisticsReply
    ) throws(LarderError) -> Reply {
        .statistics(
            try ProtobufReader.list(
                wire.statistics, wire.n_statistics, "statistics", maximum: 65_536, Statistic.init))
    }

    private static func history(_ wire: Larder__V1__HistoryReply) throws(LarderError) -> Reply {
        .history(try HistoryReply(wire), more: wire.more != 0)
    }

    private static func observed(_ wire: Larder__V1__ObserveReply) throws(LarderError) -> Reply {
        .observed(try ObserveReply(wire), more: wire.more != 0)
    }

    private static func checked(_ wire: Larder__V1__Batch) throws(LarderError) -> Batch {
        guard let batch = ProtobufBatches.batch(wire) else { throw .unreadable }
        try batch.check()
        return batch
    }
}
