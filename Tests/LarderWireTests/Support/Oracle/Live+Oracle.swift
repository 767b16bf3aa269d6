import CLarderProto
import LarderModel

@testable import LarderWire

// How the tests decode with protobuf-c the messages of snapshots and of observed queries.

extension ObserveRequest {
    init(_ wire: Larder__V1__ObserveRequest) throws(LarderError) {
        guard let query = wire.query?.pointee else { throw .malformed("the query is missing") }
        self.init(
            try QueryRequest(query), intervalMilliseconds: wire.interval_milliseconds,
            isSectioned: wire.sectioned != 0)
    }
}

extension ObserveReply {
    init(_ wire: Larder__V1__ObserveReply) throws(LarderError) {
        guard let position = wire.position?.pointee else {
            throw .malformed("the position is missing")
        }
        let batches = try ProtobufReader.list(
            wire.rows, wire.n_rows, "batches", maximum: 1, Self.batch)
        var sections: Batch?
        if let wire = wire.sections?.pointee { sections = try Self.batch(wire) }
        let moved: [protobuf_c_boolean] = ProtobufReader.numbers(wire.moved, wire.n_moved)
        self.init(
            batches.first, sections: sections, at: try HistoryToken(position),
            begins: wire.begins != 0, ends: wire.ends != 0,
            newIndexes: ProtobufReader.numbers(wire.new_indexes, wire.n_new_indexes),
            oldIndexes: ProtobufReader.numbers(wire.old_indexes, wire.n_old_indexes),
            moved: moved.map { $0 != 0 },
            deleted: ProtobufReader.numbers(wire.deleted, wire.n_deleted))
        let rowCount = batches.first?.rowCount ?? 0
        guard newIndexes.count == oldIndexes.count, newIndexes.count == self.moved.count,
            newIndexes.isEmpty || newIndexes.count == rowCount
        else { throw .malformed("the fields are inconsistent") }
        guard let sections else { return }
        guard sections.columns.count == 1, sections.rowCount == rowCount, !batches.isEmpty else {
            throw .malformed("the sections are inconsistent")
        }
    }

    private static func batch(_ wire: Larder__V1__Batch) throws(LarderError) -> Batch {
        guard let batch = ProtobufBatches.batch(wire) else { throw .unreadable }
        try batch.check()
        return batch
    }
}

extension HistoryToken {
    init(_ wire: Larder__V1__OpenSnapshotReply) throws(LarderError) {
        guard let position = wire.position?.pointee else {
            throw .malformed("the position is missing")
        }
        try self.init(position)
    }
}
