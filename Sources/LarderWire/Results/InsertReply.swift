internal import CLarderProto
internal import LarderModel

// The message `InsertReply`.

extension InsertedRows {
    init(_ wire: Larder__V1__InsertReply) throws(LarderError) {
        guard wire.n_first_keys == wire.n_key_counts, wire.row_count >= 0, wire.batch_count >= 0
        else { throw .malformed("the fields of an inserted reply are inconsistent") }
        let firsts: [Int64] = ProtobufReader.numbers(wire.first_keys, wire.n_first_keys)
        let counts: [UInt32] = ProtobufReader.numbers(wire.key_counts, wire.n_key_counts)
        for (first, count) in zip(firsts, counts) {
            guard first > 0, count > 0, !first.addingReportingOverflow(Int64(count) - 1).overflow
            else { throw .malformed("a run of keys is empty or out of range") }
        }
        self.init(
            rowCount: wire.row_count, batchCount: wire.batch_count,
            keys: zip(firsts, counts).map { KeyRange(first: $0, count: $1) },
            transaction: wire.transaction == 0 ? nil : wire.transaction)
    }
}

extension ProtobufWriter {
    func insertedRows(
        _ rows: InsertedRows, more: Bool
    ) -> UnsafeMutablePointer<Larder__V1__InsertReply> {
        let wire = make(larder__v1__insert_reply__init)
        wire.pointee.row_count = rows.rowCount
        wire.pointee.batch_count = rows.batchCount
        wire.pointee.n_first_keys = rows.keys.count
        wire.pointee.first_keys = copy(numbers: rows.keys.map(\.first))
        wire.pointee.n_key_counts = rows.keys.count
        wire.pointee.key_counts = copy(numbers: rows.keys.map(\.count))
        wire.pointee.transaction = rows.transaction ?? 0
        wire.pointee.more = more ? 1 : 0
        return wire
    }
}
