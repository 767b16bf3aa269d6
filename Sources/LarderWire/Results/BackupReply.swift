internal import CLarderProto
internal import LarderModel

// The messages `BackupRequest` and `BackupReply`.

extension BackupPart {
    init(_ wire: Larder__V1__BackupReply) throws(LarderError) {
        guard wire.byte_count >= 0, wire.transaction >= 0 else {
            throw .malformed("the fields of a backup reply are negative")
        }
        self.init(
            content: wire.content.bytes.withUnsafeBytes { Array($0) },
            byteCount: wire.byte_count, transaction: wire.transaction)
    }
}

extension ProtobufWriter {
    func backup(credit: UInt32) -> UnsafeMutablePointer<Larder__V1__BackupRequest> {
        let wire = make(larder__v1__backup_request__init)
        wire.pointee.credit = credit
        return wire
    }

    func part(_ part: BackupPart, more: Bool) -> UnsafeMutablePointer<Larder__V1__BackupReply> {
        let wire = make(larder__v1__backup_reply__init)
        wire.pointee.content = bytes(part.content)
        wire.pointee.byte_count = part.byteCount
        wire.pointee.transaction = part.transaction
        wire.pointee.more = more ? 1 : 0
        return wire
    }
}
