internal import CLarderProto
internal import LarderModel

extension Insertion {
    init(_ wire: Larder__V1__InsertRequest) throws(LarderError) {
        self.init(
            try wire.entity.name("the entity of new objects"),
            onUniqueConflict: try UniqueConflictPolicy(wire.on_unique_conflict),
            author: try wire.author.text(
                "the author of new objects", bytesMax: Limits.authorBytesMax),
            isAtomic: wire.atomic != 0, wantsIdentifiers: wire.identifiers_wanted != 0)
    }
}

extension Request {
    /// Rows of a stream, whose parts have no type of their own.
    static func rows(encoded bytes: UnsafeRawBufferPointer) throws(LarderError) -> Request {
        var (requestID, batch, isLast): (UInt64, Batch?, Bool) = (0, nil, false)
        var fields = FieldScanner(bytes)
        while let field = try fields.field() {
            switch (field.number, field.content) {
            case (1, .number(let number)): requestID = number
            case (2, .bytes(let bytes)):
                guard batch == nil else { throw MessageReader.malformed("rows have two batches") }
                batch = try Batch(encoded: bytes)
            case (3, .number(let number)): isLast = number != 0
            case (1...3, _): throw FieldScanner.unreadable
            default: break
            }
        }
        return .rows(requestID: requestID, batch, isLast: isLast)
    }
}

extension InsertedRows {
    init(_ wire: Larder__V1__InsertReply) throws(LarderError) {
        guard wire.n_first_keys == wire.n_key_counts, wire.row_count >= 0, wire.batch_count >= 0
        else { throw MessageReader.malformed("what was inserted does not fit together") }
        let firsts: [Int64] = MessageReader.numbers(wire.first_keys, wire.n_first_keys)
        let counts: [UInt32] = MessageReader.numbers(wire.key_counts, wire.n_key_counts)
        for (first, count) in zip(firsts, counts) {
            guard first > 0, count > 0, !first.addingReportingOverflow(Int64(count) - 1).overflow
            else { throw MessageReader.malformed("a run of keys has none, or none that can be") }
        }
        self.init(
            rowCount: wire.row_count, batchCount: wire.batch_count,
            keys: zip(firsts, counts).map { KeyRun(first: $0, count: $1) },
            transaction: wire.transaction == 0 ? nil : wire.transaction)
    }
}

extension MessageWriter {
    func insertRows(
        _ insertion: Insertion
    ) -> UnsafeMutablePointer<Larder__V1__InsertRequest> {
        let wire = make(larder__v1__insert_request__init)
        wire.pointee.entity = text(insertion.entityName)
        wire.pointee.on_unique_conflict = insertion.onUniqueConflict.wire
        wire.pointee.author = text(insertion.author)
        wire.pointee.atomic = insertion.isAtomic ? 1 : 0
        wire.pointee.identifiers_wanted = insertion.wantsIdentifiers ? 1 : 0
        return wire
    }

    func inserted(
        _ result: InsertedRows, more: Bool
    ) -> UnsafeMutablePointer<Larder__V1__InsertReply> {
        let wire = make(larder__v1__insert_reply__init)
        wire.pointee.row_count = result.rowCount
        wire.pointee.batch_count = result.batchCount
        wire.pointee.n_first_keys = result.keys.count
        wire.pointee.first_keys = copy(numbers: result.keys.map(\.first))
        wire.pointee.n_key_counts = result.keys.count
        wire.pointee.key_counts = copy(numbers: result.keys.map(\.count))
        wire.pointee.transaction = result.transaction ?? 0
        wire.pointee.more = more ? 1 : 0
        return wire
    }
}
