internal import CLarderProto
internal import LarderModel

// The message `InsertRequest`.

extension Insertion {
    init(_ wire: Larder__V1__InsertRequest) throws(LarderError) {
        self.init(
            try wire.entity.name("the entity of an insert_rows request"),
            onUniqueConflict: try UniqueConflictPolicy(
                wireNumber: UInt64(wire.on_unique_conflict.rawValue)),
            author: try wire.author.text(
                "the author of an insert_rows request", bytesMax: Limits.authorBytesMax),
            isAtomic: wire.atomic != 0, wantsIdentifiers: wire.identifiers_wanted != 0)
    }
}

extension ProtobufWriter {
    func insertion(
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
}
